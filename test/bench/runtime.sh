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
usage: test/bench/runtime.sh [--quick] [--rounds=N] [--before=BUILD] [PROGRAM...]
  PROGRAM         bignum, recursive, lua, sqlite, jq, gawk, ninja, redis (the default: these eight), quickstart
  --rounds=N      measured rounds (default 5)
  --before=BUILD  another build of Hearth, measured beside this one
  --quick         small inputs and one round
END
}

quick=false rounds=5 before='' programs=()
parse_arguments '--quick quick=true rounds=1' '--rounds=[1-9]*' '--before=?*' \
  'programs=bignum|recursive|lua|sqlite|jq|gawk|ninja|redis|quickstart' -- "$@"
((${#programs[@]} > 0)) || programs=(bignum recursive lua sqlite jq gawk ninja redis)
profilers=(hearth)
[[ ! $before ]] || profilers+=(before)
profilers+=(llvm)

"$repository/examples/setup.sh" --for=bench

# profiled VARIANT PREFIX...: one run; a profiling build leaves its raw profiles as $directory/raw.VARIANT.*.
profiled() {
  local variant=$1
  shift
  rm -f "$directory/raw.$variant".*
  HEARTH_OPTIONS=log_path=$directory/raw.$variant MEMPROF_OPTIONS=log_path=$directory/raw.$variant \
    run_program "$measured" "$@" "$work/$variant"
}

rows=$build/bench/runtime.rows
mkdir -p "$build/bench"
: >"$rows"
for program in "${programs[@]}"; do
  select_program "$program"
  directory=$work/runtime
  for variant in plain "${profilers[@]}"; do
    build_variant "$variant"
  done
  say "measuring $program, input $measured, $rounds rounds"
  paired "$directory" "$rounds" profiled plain "${profilers[@]}"
  ratio_title "$program"
  for variant in "${profilers[@]}"; do
    cmp "$directory/plain.out" "$directory/$variant.out" || fail "the outputs of plain and $variant differ"
    ratio_rows "$variant / plain" "$directory" "$variant" plain
    read -r _ slowdown _ < <(ratios "$directory" 1 "$variant" plain)
    read -r _ growth _ < <(ratios "$directory" 3 "$variant" plain)
    echo "$variant $slowdown $growth" >>"$rows"
    printf '%s: raw profiles of %d bytes\n' "$variant" "$(cat "$directory/raw.$variant".* | wc -c)"
  done
done

awk '{ time[$1] += log($2); memory[$1] += log($3); count[$1]++; if ($2 > most[$1]) most[$1] = $2 }
  END { for (variant in count) printf "%s: geometric means of %d programs: time %.2f (at most %.2f), memory %.2f\n", variant,
    count[variant], exp(time[variant] / count[variant]), most[variant], exp(memory[variant] / count[variant]) }' "$rows" | sort
