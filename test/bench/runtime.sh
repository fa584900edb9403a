#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What profiling costs the profiled program: our instrumentation and runtime, and LLVM's, against the plain build.
# shellcheck disable=SC2034,SC2154  # what the programs' files read and set
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=lib.sh
source ./lib.sh

usage() {
  cat <<END
usage: test/bench/runtime.sh [--quick] [--rounds=N] [PROGRAM...]
  PROGRAM     bignum, quickstart, recursive, lua (the default: these four), jq, sqlite
  --rounds=N  measured rounds (default 5)
  --quick     small inputs and one round
END
}

quick=false rounds=5 programs=()
parse_arguments '--quick quick=true rounds=1' '--rounds=[1-9]*' 'programs=bignum|quickstart|recursive|lua|jq|sqlite' -- "$@"
((${#programs[@]} > 0)) || programs=(bignum quickstart recursive lua)

"$repository/examples/setup.sh" --for=bench

# profiled VARIANT PREFIX...: one run; a profiling build leaves its raw profiles as $directory/raw.VARIANT.*.
profiled() {
  local variant=$1
  shift
  rm -f "$directory/raw.$variant".*
  HEARTH_OPTIONS=log_path=$directory/raw.hearth MEMPROF_OPTIONS=log_path=$directory/raw.llvm \
    run_program "$measured" "$@" "$work/$variant"
}

rows=$build/bench/runtime.rows
mkdir -p "$build/bench"
: >"$rows"
for program in "${programs[@]}"; do
  select_program "$program"
  directory=$work/runtime
  for variant in plain hearth llvm; do
    build_variant "$variant"
  done
  say "measuring $program, input $measured, $rounds rounds"
  paired "$directory" "$rounds" profiled plain hearth llvm
  for variant in hearth llvm; do
    cmp "$directory/plain.out" "$directory/$variant.out" || fail "the outputs of plain and $variant differ"
  done
  ratio_title "$program"
  ratio_rows "hearth / plain" "$directory" hearth plain
  ratio_rows "llvm / plain" "$directory" llvm plain
  ratio_rows "hearth / llvm" "$directory" hearth llvm
  printf 'raw profiles: hearth %d bytes, llvm %d bytes\n\n' "$(cat "$directory"/raw.hearth.* | wc -c)" \
    "$(cat "$directory"/raw.llvm.* | wc -c)"
  read -r _ hearth_slowdown _ < <(ratios "$directory" 1 hearth plain)
  read -r _ llvm_slowdown _ < <(ratios "$directory" 1 llvm plain)
  echo "$hearth_slowdown $llvm_slowdown" >>"$rows"
done

awk '{ hearth += log($1); llvm += log($2) }
  END { printf "geometric mean of the slowdowns of %d programs: hearth %.2f, llvm %.2f\n", NR, exp(hearth / NR),
    exp(llvm / NR) }' "$rows"
