#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What annotation, pruning and lowering cost the compiler, with a profile of 250,000 contexts in which recursion is not
# folded, the same one folded, and one that has ten times as many, those of functions the sources do not have.
# shellcheck disable=SC2154  # what the programs' files set
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=lib.sh
source ./lib.sh

usage() {
  cat <<END
usage: test/bench/compile.sh [--quick] [--rounds=N] [PROGRAM...]
  PROGRAM     recursive, sqlite (the default: both)
  --rounds=N  measured rounds (default 5)
  --quick     a profile of 24,000 contexts, the program recursive alone, and one round
END
}

quick=false rounds=5 programs=()
parse_arguments '--quick quick=true rounds=1' '--rounds=[1-9]*' 'programs=recursive|sqlite' -- "$@"
if ((${#programs[@]} == 0)); then
  programs=(recursive)
  $quick || programs+=(sqlite)
fi

"$repository/examples/setup.sh" --for=bench
made=$build/bench/compile
mkdir -p "$made"

# record PROGRAM: a run of its profiling build, all stacks kept, as $made/PROGRAM.raw.*.
record() {
  select_program "$1"
  build_variant hearth
  rm -f "$made/$1.raw".*
  HEARTH_OPTIONS=recursion=full:max_contexts=4000000:log_path=$made/$1.raw \
    run_program "$training" "$work/hearth" >"$made/$1.out"
}

# others N: the text form of N contexts of functions that no program here has. They live short and are not accessed, so
# that the classes of the others stay as they are.
others() {
  awk -v contexts="$1" 'BEGIN {
    print "hearth-profile-text 1\nscheme hearth\nrun duration_ns=0 runs=0 accesses=1"
    for (i = 0; i < contexts; i++) {
      print "context"
      for (k = 0; k < 8; k++)
        print "  frame other" k "_" int(i / 4 ^ k / 50) " other.c 1 " int(i / 4 ^ k) % 50 " 5 0"
      print "  AllocCount 1\n  TotalSize 32\n  TotalLifetime " 1000 + i % 1000
    }
  }'
}

inputs=()
for program in "${programs[@]}"; do
  record "$program"
  inputs+=("$made/$program.raw".*)
done
"$hearth" merge -q --recursion=full "${inputs[@]}" -o "$made/full.prof"
"$hearth" merge -q "${inputs[@]}" -o "$made/folded.prof"
contexts() { "$hearth" show --text "$1" | grep -c '^context'; }
full=$(contexts "$made/full.prof")
say "making a profile of ten times as many contexts"
others $((9 * full)) >"$made/others.txt"
"$hearth" merge -q --recursion=full "$made/full.prof" "$made/others.txt" -o "$made/tenfold.prof"
rm "$made/others.txt"

# compile SUBJECT PREFIX...: all sources of the selected program. The plain subject has the same debug information, and
# the plugin, which does nothing.
compile() {
  local subject=$1 flags=() base_flags=() source
  shift
  split_flags flags "$hearth" flags use "$made/full.prof" --compile
  without_plugin base_flags "${flags[@]}"
  base_flags+=("-fpass-plugin=$plugin")
  [[ $subject == plain ]] || base_flags+=(-mllvm "-memprof-use=$made/$subject.prof")
  for source in "${sources[@]}"; do
    "$@" "$clang" -O2 "${base_flags[@]}" "${compile_flags[@]}" -c "$tree/$source" -o "$made/$subject.o"
  done
}

printf '\n%d contexts, %d folded; all: those of the programs and 9 times as many others\n' "$full" \
  "$(contexts "$made/folded.prof")"
: >"$made/sums"
for program in "${programs[@]}"; do
  select_program "$program"
  say "compiling $program, $rounds rounds"
  paired "$made/$program" "$rounds" compile plain folded full tenfold
  ratio_title "$program; A: with profile; B: plain"
  for subject in folded full tenfold; do
    ratio_rows "$subject / plain" "$made/$program" "$subject" plain
    paste "$made/$program/$subject.runs" "$made/$program/plain.runs" |
      awk -v subject="$subject" -v program="$program" '{ print subject, program, $2, $6 }' >>"$made/sums"
  done
done

# Of each program the median, for the machine is never idle.
echo
for subject in folded full tenfold; do
  for program in "${programs[@]}"; do
    awk -v s="$subject" -v p="$program" '$1 == s && $2 == p { print $3 - $4 }' "$made/sums" | median
    awk -v s="$subject" -v p="$program" '$1 == s && $2 == p { print $4 }' "$made/sums" | median
  done | awk -v subject="$subject" 'NR % 2 { added += $1; next } { plain += $1 }
    END { printf "%-8s adds %.3f s of processor time to %.3f s: %.1f %%\n", subject, added, plain, 100 * added / plain }'
done
