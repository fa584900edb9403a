#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What a sampled run costs: the runtime alone (blocks, stacks and times of sampled ones), and with accesses counted, which
# instrumented code does for all blocks.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=lib.sh
source ./lib.sh

usage() {
  cat <<END
usage: test/bench/sampling.sh [--quick] [--rounds=N] [--sample=BYTES] [PROGRAM...]
  PROGRAM         pairs, bignum, recursive, lua (the default: these), quickstart, jq, sqlite
  --rounds=N      measured rounds (default 5)
  --sample=BYTES  the runtime's option (default 65536)
  --quick         small inputs and one round
END
}

quick=false rounds=5 sample=65536 programs=()
parse_arguments '--quick quick=true rounds=1' '--rounds=[1-9]*' '--sample=[1-9]*' \
  'programs=pairs|bignum|quickstart|recursive|lua|jq|sqlite' -- "$@"
((${#programs[@]} > 0)) || programs=(pairs bignum recursive lua)

"$repository/examples/setup.sh" --for=bench

# sampled VARIANT PREFIX...: one run; a variant with the runtime leaves its raw profiles as $directory/raw.*.
sampled() {
  local variant=$1
  shift
  rm -f "$directory"/raw.*
  HEARTH_OPTIONS=log_path=$directory/raw:sample=$sample run_program "$measured" "$@" "$work/$variant"
}

for program in "${programs[@]}"; do
  select_program "$program"
  if [[ $program == pairs ]] && ! $quick; then
    measured="1 30000000"
  fi
  directory=$work/sampling
  for variant in plain linked hearth; do
    build_variant "$variant"
  done
  say "measuring $program, input $measured, sample=$sample, $rounds rounds"
  paired "$directory" "$rounds" sampled plain linked hearth
  ratio_title "$program"
  ratio_rows "not instrumented / plain" "$directory" linked plain
  ratio_rows "instrumented / plain" "$directory" hearth plain
done
