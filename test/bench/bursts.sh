#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What counting for part of the time costs: beside the runtime alone, which records blocks, stacks and times; beside the
# program as it is; with all blocks recorded and with a sample of them; and what counting all accesses costs.
# shellcheck disable=SC2034,SC2154  # what the programs' files read and set
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=lib.sh
source ./lib.sh

usage() {
  cat <<END
usage: test/bench/bursts.sh [--quick] [--rounds=N] [--sample=BYTES] [PROGRAM...]
  PROGRAM         pairs, bignum, recursive, lua, jq, sqlite (the default: the last three)
  --rounds=N      measured rounds (default 5)
  --sample=BYTES  the runtime's option, for the sampled runs (default 65536)
  --quick         small inputs and one round
END
}

quick=false rounds=5 sample=65536 programs=()
parse_arguments '--quick quick=true rounds=1' '--rounds=[1-9]*' '--sample=[1-9]*' \
  'programs=pairs|bignum|recursive|lua|jq|sqlite' -- "$@"
((${#programs[@]} > 0)) || programs=(lua jq sqlite)

"$repository/examples/setup.sh" --for=bench

# recorded SUBJECT PREFIX...: one run; a subject is a variant, or VARIANT-sampled. Raw profiles are left as
# $directory/raw.*.
recorded() {
  local variant=${1%-sampled} settings=log_path=$directory/raw
  [[ $1 == "$variant" ]] || settings+=:sample=$sample
  shift
  rm -f "$directory"/raw.*
  HEARTH_OPTIONS=$settings run_program "$measured" "$@" "$work/$variant"
}

for program in "${programs[@]}"; do
  select_program "$program"
  directory=$work/bursts
  for variant in plain linked burst hearth; do
    build_variant "$variant"
  done
  say "measuring $program, input $measured, $rounds rounds"
  paired "$directory" "$rounds" recorded plain linked burst hearth linked-sampled burst-sampled
  for subject in linked burst hearth linked-sampled burst-sampled; do
    cmp "$directory/plain.out" "$directory/$subject.out"
  done
  ratio_title "$program"
  ratio_rows "counting in bursts / not instrumented" "$directory" burst linked
  ratio_rows "the same, blocks sampled ($sample)" "$directory" burst-sampled linked-sampled
  ratio_rows "counting in bursts / plain" "$directory" burst plain
  ratio_rows "the same, blocks sampled ($sample)" "$directory" burst-sampled plain
  ratio_rows "counting all / plain" "$directory" hearth plain
done
