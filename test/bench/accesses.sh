#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Hot and cold without counting: what it costs to estimate accesses from looks at pages, and how far its classes are those of
# exact counting. The programs and inputs are those of benefit.sh.
# shellcheck disable=SC2034,SC2154  # what the programs' files read and set
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=lib.sh
source ./lib.sh

usage() {
  cat <<END
usage: test/bench/accesses.sh [--quick] [--rounds=N] [--only=STEP] [PROGRAM...]
  PROGRAM     lua, jq or sqlite (default: all)
  --rounds=N  measured rounds (default 5)
  --only=STEP cost or agreement
  --quick     small inputs and one round
Cost: plain; 'sampled', hearth record with the sample that --accesses takes; 'accesses', hearth record --accesses.
Agreement: classes of an instrumented program that counts, against those of the same program with accesses=pages, weighted
by the bytes of exact counting; 'live' weights them by bytes and seconds of life.
END
}

quick=false rounds=5 only='' programs=()
parse_arguments '--quick quick=true rounds=1' '--rounds=[1-9]*' '--only=cost|agreement' 'programs=lua|jq|sqlite' -- "$@"
((${#programs[@]} > 0)) || programs=(lua jq sqlite)

"$repository/examples/setup.sh" --for=bench

# recorded SUBJECT PREFIX...: one run of the plain program.
recorded() {
  local subject=$1 record=()
  shift
  rm -f "$directory"/raw*
  case $subject in
    sampled) record=("$hearth" record -q --sample=262144 -o "$directory/raw" --) ;;
    accesses) record=("$hearth" record -q --accesses -o "$directory/raw" --) ;;
  esac
  run_program "$measured" "$@" "${record[@]}" "$work/plain"
}

# profile NAME OPTIONS: of one run of the instrumented program.
profile() {
  rm -f "$directory/$1".raw*
  HEARTH_OPTIONS=log_path=$directory/$1.raw:$2 run_program "$measured" "$work/hearth" >"$directory/$1.out"
  "$hearth" index -q "$directory/$1".raw* -o "$directory/$1.prof"
  "$hearth" show --json "$directory/$1.prof" >"$directory/$1.json"
}

for program in "${programs[@]}"; do
  select_program "$program"
  # shellcheck source=/dev/null
  source "$bench/benefit/$program.sh"
  directory=$work/accesses
  mkdir -p "$directory"
  if [[ $only != agreement ]]; then
    build_variant plain
    say "measuring $program, input $measured, $rounds rounds"
    paired "$directory" "$rounds" recorded plain sampled accesses
    ratio_title "$program"
    ratio_rows "sampled / plain" "$directory" sampled plain
    ratio_rows "accesses / plain" "$directory" accesses plain
  fi
  if [[ $only != cost ]]; then
    build_variant hearth
    profile counted own_thread=off
    profile looks accesses=pages
    cmp "$directory/counted.out" "$directory/looks.out" || fail "the runs print different things"
    python3 "$bench/accesses.py" "$program" "$directory/counted.json" "$directory/looks.json"
  fi
done
