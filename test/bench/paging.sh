#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What does it cost the hot path that cold blocks leave memory? The quickstart's store, its cold range kept, in a file
# and, where there is swap space, paged out (HEARTH_MALLOC=cold=...).
# shellcheck disable=SC2034,SC2154  # what the programs' files read and set
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=lib.sh
source ./lib.sh

usage() {
  cat <<END
usage: test/bench/paging.sh [--quick] [--rounds=N]
  --rounds=N  measured rounds (default 9), each with all modes
  --quick     few orders, one round
  query       nanoseconds of processor time of a query, which hot blocks answer alone, and its ratio to 'keep' in the
              same round
  reads       pages that were read from the disk meanwhile
  out         per cent of the cold range that is not in memory meanwhile
  audit       microseconds for reading one order's cold blocks then
END
}

rounds=9 orders=200000
quick=false
parse_arguments '--quick rounds=1 orders=20000 quick=true' '--rounds=[1-9]*' -- "$@"

"$repository/examples/setup.sh" --for=bench
select_program quickstart
folder=$build/bench/paging
mkdir -p "$folder"

# build_program: profile the program, and build its parts with the profile, around another main.
build_program() {
  local flags=() libraries=() source parts=()
  split_flags flags "$hearth" flags instrument
  "$clang" -O2 "${flags[@]}" "${sources[@]/#/$tree/}" -o "$folder/instrumented"
  rm -f "$folder"/raw.*
  HEARTH_OPTIONS=log_path=$folder/raw run_program "$training" "$folder/instrumented"
  "$hearth" index -q "$folder"/raw.* -o "$folder/training.prof"
  for source in "${sources[@]}"; do
    [[ $source == main.c ]] || parts+=("$tree/$source")
  done
  split_flags flags "$hearth" flags use "$folder/training.prof" --compile
  split_flags libraries "$hearth" flags use "$folder/training.prof" --link
  "$clang" -O2 "${flags[@]}" -I "$tree" -I "$repository/runtime/include" "$bench/paging/paging.c" "${parts[@]}" \
    "${libraries[@]}" -o "$folder/paging"
}
step "building the store with its profile" "$folder/build.log" build_program

modes=(keep file)
if (($(awk 'NR > 1' /proc/swaps | wc -l) > 0)); then
  modes+=(pageout)
fi
rm -f "$folder"/*.rows
for ((round = 0; round < rounds; round++)); do
  for mode in "${modes[@]}"; do
    HEARTH_MALLOC=cold=$mode:interval=1:cost=off:dir=$folder "$folder/paging" "$orders" 20000 20 2>"$folder/$mode.err" \
      >>"$folder/$mode.rows"
  done
done

printf '%-14s%10s%32s%8s%8s%11s\n' cold= 'query, ns' 'to keep: least median greatest' reads 'out, %' 'audit, us'
for mode in "${modes[@]}"; do
  read -r least middle greatest < <(paste -d ' ' "$folder/$mode.rows" "$folder/keep.rows" | awk '{ print $1 / $5 }' |
    sort -g | awk '{ n[NR] = $1 } END { print n[1], n[int((NR + 1) / 2)], n[NR] }')
  printf '%-14s%10.1f%14.3f%9.3f%9.3f%8d%8.1f%11.1f\n' "$mode" "$(column "$folder/$mode.rows" 1 | median)" "$least" \
    "$middle" "$greatest" "$(column "$folder/$mode.rows" 2 | median)" "$(column "$folder/$mode.rows" 3 | median)" \
    "$(column "$folder/$mode.rows" 4 | median)"
done
