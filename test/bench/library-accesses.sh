#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Are accesses by functions of libraries, which the table tells, those that valgrind's DHAT sees?
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=lib.sh
source ./lib.sh

usage() {
  cat <<END
usage: test/bench/library-accesses.sh [PROGRAM...]
  PROGRAM   strings.c, text.cpp or transfers.c (default: all)
Runs programs (library-accesses/) whose blocks are accessed by one function of a library each, with counters and under DHAT.
Prints the accesses of both, in units of 8 bytes, as ranges count; exit status 1 if some differ by more than 5 %. What libraries
read beyond what they were asked for (vectors of 32 bytes) DHAT counts as well, so blocks are large.
END
}

programs=()
parse_arguments 'programs=strings.c|text.cpp|transfers.c' -- "$@"
((${#programs[@]} > 0)) || programs=(strings.c text.cpp transfers.c)

"$repository/examples/setup.sh" --for=test
work=$build/bench/library-accesses
mkdir -p "$work"

# compiled SOURCE: with counters and without, by equal calls of the library's functions.
compiled() {
  local source=$bench/library-accesses/$1 compiler=$build/bin/hearth-cc plain=$clang
  [[ $1 != *.cpp ]] || compiler=$build/bin/hearth-c++ plain=clang++-$llvm
  HEARTH=instrument "$compiler" -O1 -g -fno-builtin "$source" -o "$work/$1.counted"
  "$plain" -O1 -g -fno-builtin "$source" -o "$work/$1.plain"
}

findings=0
for program in "${programs[@]}"; do
  step "compiling $program" "$work/compile.log" compiled "$program"
  rm -f "$work"/raw.*
  HEARTH_OPTIONS=log_path=$work/raw "$work/$program.counted"
  "$build/bin/hearth" index -q "$work"/raw.* -o "$work/prof"
  "$build/bin/hearth" show --json "$work/prof" >"$work/$program.json"
  step "running $program under DHAT" "$work/dhat.log" \
    valgrind --tool=dhat --num-callers=40 --dhat-out-file="$work/$program.dhat" "$work/$program.plain"
  python3 "$bench/library_accesses.py" "$program" "$work/$program.json" "$work/$program.dhat" || findings=1
done
exit "$findings"
