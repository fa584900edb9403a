#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What windows cost the profiled program on top of exact counts: the runtime's option together, on against off; and how
# many windows there were.
# shellcheck disable=SC2034,SC2154  # what the programs' files read and set
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=lib.sh
source ./lib.sh

usage() {
  cat <<END
usage: test/bench/together.sh [--quick] [--rounds=N] [PROGRAM...]
  PROGRAM     bignum, lua, sqlite, lists (the default: these four), jq, quickstart, recursive
  --rounds=N  measured rounds (default 5)
  --quick     small inputs and one round
END
}

quick=false rounds=5 programs=()
parse_arguments '--quick quick=true rounds=1' '--rounds=[1-9]*' \
  'programs=bignum|lua|sqlite|lists|jq|quickstart|recursive' -- "$@"
((${#programs[@]} > 0)) || programs=(bignum lua sqlite lists)

"$repository/examples/setup.sh" --for=bench

# profiled MODE PREFIX...: one run with the option together=MODE.
profiled() {
  local mode=$1
  shift
  rm -f "$directory/raw.$mode".*
  HEARTH_OPTIONS=together=$mode:log_path=$directory/raw.$mode run_program "$measured" "$@" "$work/hearth"
}

for program in "${programs[@]}"; do
  select_program "$program"
  directory=$work/together
  build_variant hearth
  say "measuring $program, input $measured, $rounds rounds"
  paired "$directory" "$rounds" profiled on off
  cmp "$directory/on.out" "$directory/off.out" || fail "the outputs with windows and without differ"
  ratio_title "$program"
  ratio_rows "on / off" "$directory" on off
  "$hearth" index -q "$directory"/raw.on.* --binary "$work/hearth" -o "$directory/on.heap"
  "$hearth" show --together --top=1 "$directory/on.heap" | head -n 1
done
