# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Shell functions that the benchmarks share: programs built in several ways, paired runs, ratios.
# shellcheck shell=bash
#
# Sourced, with `set -euo pipefail` in force. Words:
#   subject   one of the commands that are compared
#   round     one run of each subject; a ratio is always of two runs of one round, so that whatever else the machine
#             does meets both alike
#   variant   a way to build a program: plain, hearth (profiling, ours), before (as hearth by another build of Hearth,
#             in $before), linked (our runtime, without instrumentation) or llvm (clang -fmemory-profile)

# shellcheck source=../../examples/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../examples/lib.sh"
export LC_ALL=C # decimal points, in what `time` prints too
TIMEFORMAT='%3R %3U %3S'

bench=$repository/test/bench
realworld=$repository/examples/realworld
clang=clang-$llvm

# select_program PROGRAM: where it is and what it is, as examples/realworld/run.sh describes: $tree, $sources,
# $compile_flags, $link_flags, $training, $measured, workload. $work is where the benchmarks put what they make of it.
select_program() {
  program=$1 work=$build/bench/$1 sources=() compile_flags=() link_flags=()
  mkdir -p "$work"
  if [[ -e $bench/$program.sh ]]; then
    # shellcheck source=/dev/null
    source "$bench/$program.sh"
  elif [[ ! -e $realworld/$program.sh || $program == redis ]]; then
    select_benefit_program
  else
    tree=$build/realworld/$program/source
    "$realworld/run.sh" --fetch "$program"
    # shellcheck source=/dev/null
    source "$realworld/$program.sh"
  fi
}

# select_benefit_program: the same for a program of benefit.sh alone (benefit/README.md). Its input for training is large enough
# here.
select_benefit_program() {
  tree=$work/source
  # shellcheck source=/dev/null
  source "$bench/benefit/$program.sh"
  # shellcheck disable=SC2034,SC2154  # what the program's file reads and set
  latencies=/dev/null measured=$training
  # shellcheck source=../../examples/realworld/package.sh
  source "$realworld/package.sh"
  fetch_once
  if declare -F list_sources >/dev/null; then
    mapfile -t sources < <(cd "$tree" && list_sources)
    unset -f list_sources
  fi
}

# make_input FILE COMMAND...: its output, made once; into $input.
make_input() {
  input=$work/$1
  [[ -e $input ]] || { "${@:2}" >"$input.new" && mv "$input.new" "$input"; }
}

# run_program INPUT COMMAND...: the selected program's workload, in the folder that its file expects.
run_program() {
  (cd "$realworld" && workload "$@")
}

# build_tools NAME...: build/bin/bench-NAME, a benchmark's program on Hearth's libraries (CMakeLists.txt).
build_tools() {
  step "building $*" "$build/bench/tools.log" ninja -C "$build" "${@/#/bench-}"
}

# build_variant VARIANT: the selected program, as $work/VARIANT. All variants are compiled with the same flags, frame
# pointers included, but for the instrumentation.
build_variant() {
  local variant=$1 hearth_flags=() base_flags=() flags=() libraries=() inputs headers plugin=$plugin hearth=$hearth
  split_flags hearth_flags "$hearth" flags instrument --compile
  without_plugin base_flags "${hearth_flags[@]}"
  if [[ $variant == before ]]; then
    # shellcheck disable=SC2154  # of the script that sources this
    hearth=$before/bin/hearth plugin=$before/lib/hearth.so
    split_flags hearth_flags "$hearth" flags instrument --compile
  fi
  case $variant in
    plain) flags=("${base_flags[@]}") ;;
    hearth | before)
      flags=("${hearth_flags[@]}")
      split_flags libraries "$hearth" flags instrument --link
      ;;
    linked)
      flags=("${base_flags[@]}")
      split_flags libraries "$hearth" flags instrument --link
      ;;
    llvm) flags=("${base_flags[@]}" -fmemory-profile) libraries=("-Wl,--build-id") ;;
  esac
  inputs=("${sources[@]/#/$tree/}")
  mapfile -t headers < <(find "$tree" -name '*.h')
  is_current "$work/$variant" "${inputs[@]}" "${headers[@]}" "$bench/lib.sh" "$plugin" "$build/lib/libhearth_rt.so" &&
    return
  step "building $program: $variant" "$work/build-$variant.log" "$clang" -O2 "${flags[@]}" "${compile_flags[@]}" \
    "${inputs[@]}" "${libraries[@]}" "${link_flags[@]}" -o "$work/$variant"
}

# paired DIR ROUNDS RUN SUBJECT...: ROUNDS times all subjects in turn, after one round that does not count; every other round
# backwards, as what a run leaves behind (free pages, of which a virtual machine's host has some) makes the next one slower or faster. The function
# `RUN SUBJECT PREFIX...` starts the subject's process or processes, each with PREFIX in front. Leaves a line
# "seconds CPU-seconds KiB user-seconds" per round in DIR/SUBJECT.runs, times of all processes together and memory of the largest one,
# and the output of the last round in .out and .err. Of a single process, the shell that starts it is not part.
paired() {
  local directory=$1 rounds=$2 run=$3 round subject measure=$build/bench/measure order=() i
  shift 3
  mkdir -p "$directory"
  is_current "$measure" "$bench/measure.c" || "$clang" -O2 "$bench/measure.c" -o "$measure"
  rm -f "$directory"/*.runs
  for ((round = 0; round <= rounds; round++)); do
    order=("$@")
    if ((round % 2)); then
      order=()
      for ((i = $#; i > 0; i--)); do order+=("${!i}"); done
    fi
    for subject in "${order[@]}"; do
      rm -f "$directory/processes"
      {
        time attempt "$run" "$subject" "$measure" "$directory/processes" \
          >"$directory/$subject.out" 2>"$directory/$subject.err"
      } 2>"$directory/times"
      if ((status != 0)); then
        tail -n 20 "$directory/$subject.err" >&2
        fail "$subject failed"
      fi
      ((round > 0)) || continue
      awk 'NR == 1 { seconds = $1; cpu = $2 + $3; user = $2; next } NR == 2 { first = $1 " " $2; own = $4 } $3 > kib { kib = $3 }
        END { print NR == 2 ? first : seconds " " cpu, kib, NR == 2 ? own : user }' "$directory/times" "$directory/processes" \
        >>"$directory/$subject.runs"
    done
  done
}

# ratios DIR COLUMN A B: "least median greatest" of A / B over the rounds, in a column of the .runs files.
ratios() {
  paste -d ' ' "$1/$3.runs" "$1/$4.runs" |
    awk -v a="$2" -v b="$(($2 + 4))" '{ if ($b <= 0) exit 1; print $a / $b }' | sort -g |
    awk '{ n[NR] = $1 } END { print n[1], NR % 2 ? n[(NR + 1) / 2] : (n[NR / 2] + n[NR / 2 + 1]) / 2, n[NR] }'
}

ratio_title() { printf '\n%-46s%10s%10s%29s\n' "$1" A B "A / B: least median greatest"; }

# ratio_row LABEL DIR COLUMN SCALE A B: medians of both, divided by SCALE, and their ratios.
ratio_row() {
  local label=$1 directory=$2 column=$3 scale=$4 a=$5 b=$6 least middle greatest
  read -r least middle greatest < <(ratios "$directory" "$column" "$a" "$b") || fail "no ratio of $a to $b"
  awk -v label="$label" -v a="$(column "$directory/$a.runs" "$column" | median)" \
    -v b="$(column "$directory/$b.runs" "$column" | median)" -v scale="$scale" \
    -v least="$least" -v middle="$middle" -v greatest="$greatest" \
    'BEGIN { printf "%-46s%10.3f%10.3f%12.2f%8.2f%9.2f\n", label, a / scale, b / scale, least, middle, greatest }'
}

# ratio_rows LABEL DIR A B: time, processor time and memory.
ratio_rows() {
  ratio_row "$1: time (s)" "$2" 1 1 "$3" "$4"
  ratio_row "$1: processor time (s)" "$2" 2 1 "$3" "$4"
  ratio_row "$1: peak memory (MiB)" "$2" 3 1024 "$3" "$4"
}

# open_program NAME: what its file in $program_dir says, see benefit/README.md; for benefit.sh and idle.sh.
# shellcheck disable=SC2034,SC2154  # what the programs' files read and set
open_program() {
  program=$1 work=$build/bench/$(basename "$program_dir")/$1
  tree=$work/source package='' sources=() compile_flags=() link_flags=() tuning=''
  mkdir -p "$work"
  unset -f list_sources
  touched_mib=512
  # shellcheck source=/dev/null
  source "$program_dir/$1.sh"
  folder=$work/full latencies=/dev/null
  $quick && folder=$work/quick
  mkdir -p "$folder"
}
