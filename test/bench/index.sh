#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Time and memory of turning a raw profile into an indexed one: `hearth index` against `llvm-profdata merge`.
# shellcheck disable=SC2034  # what the programs' files read
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=lib.sh
source ./lib.sh

usage() {
  cat <<END
usage: test/bench/index.sh [--quick] [--rounds=N] [--input=INPUT] [PROGRAM]
  PROGRAM        recursive (default), quickstart, sqlite: one whose workload is one process
  --input=INPUT  what the program's file (recursive.sh) calls its input, instead of the usual one
  --rounds=N     measured rounds (default 7)
  --quick        a small input and one round
END
}

quick=false rounds=7 input='' program=recursive
parse_arguments '--quick quick=true rounds=1' '--input=?*' '--rounds=[1-9]*' 'program=recursive|quickstart|sqlite' -- "$@"

"$repository/examples/setup.sh" --for=bench
select_program "$program"
training=${input:-$training}
build_variant hearth
directory=$work/index

# record LAYOUT: one run of the profiling build, as $directory/LAYOUT.raw. Contexts and counts do not differ from run to
# run, so the two layouts hold the same but for times and processors.
record() {
  rm -f "$directory/raw".*
  HEARTH_OPTIONS=format=$1:recursion=full:max_contexts=4000000:log_path=$directory/raw run_program "$training" "$work/hearth"
  mv "$directory/raw".* "$directory/$1.raw"
}
mkdir -p "$directory"
step "profiling $program, input $training: our layout" "$work/record.log" record hearth
step "profiling $program, input $training: LLVM's layout" "$work/record.log" record llvm

profdata=("llvm-profdata-$llvm" merge "$directory/llvm.raw" --profiled-binary "$work/hearth")

# convert SUBJECT PREFIX...
convert() {
  local subject=$1
  shift
  case $subject in
    ours) "$@" "$hearth" index --recursion=full "$directory/hearth.raw" --binary "$work/hearth" -o "$directory/ours.prof" ;;
    ours_llvm_raw)
      "$@" "$hearth" index --recursion=full "$directory/llvm.raw" --binary "$work/hearth" -o "$directory/ours_llvm_raw.prof"
      ;;
    profdata) "$@" "${profdata[@]}" -o "$directory/profdata.prof" ;;
  esac
}
say "measuring, $rounds rounds"
paired "$directory" "$rounds" convert profdata ours ours_llvm_raw
"${profdata[@]}" --memprof-full-schema -o "$directory/full.prof"

echo
cat "$directory/ours.out" "$directory/ours_llvm_raw.out"
ratio_title "A: llvm-profdata merge; B: hearth index"
ratio_rows "B reads our raw layout" "$directory" profdata ours
ratio_rows "B reads LLVM's raw layout" "$directory" profdata ours_llvm_raw

# size_row LABEL FILE
size_row() { printf '%-46s%10.2f\n' "$1" "$(stat -c %s "$2" | awk '{ print $1 / 1048576 }')"; }
printf '\n%-46s%10s\n' "file" "MiB"
size_row "raw, LLVM's layout" "$directory/llvm.raw"
size_row "raw, our layout" "$directory/hearth.raw"
size_row "indexed, llvm-profdata, its default fields" "$directory/profdata.prof"
size_row "indexed, llvm-profdata, all fields" "$directory/full.prof"
size_row "indexed, hearth, all fields" "$directory/ours.prof"
"$hearth" merge -q --recursion=full --fields=TotalSize,TotalLifetime,TotalLifetimeAccessDensity "$directory/ours.prof" \
  -o "$directory/four.prof"
size_row "indexed, hearth, llvm-profdata's default fields" "$directory/four.prof"
"$hearth" merge -q "$directory/ours.prof" -o "$directory/folded.prof"
size_row "indexed, hearth, all fields, recursion folded" "$directory/folded.prof"
