#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What instrumentation costs the compiler and the code: ours, and clang's (-fmemory-profile), of a program's largest file.
# shellcheck disable=SC2154  # what the programs' files set
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=lib.sh
source ./lib.sh

usage() {
  cat <<END
usage: test/bench/instrument.sh [--quick] [--rounds=N] [PROGRAM...]
  PROGRAM     lua, sqlite, cppcheck (the default: the last two, in C and C++)
  --rounds=N  measured rounds (default 5)
  --quick     lua and one round
END
}

quick=false rounds=5 programs=()
parse_arguments '--quick quick=true rounds=1' '--rounds=[1-9]*' 'programs=lua|sqlite|cppcheck' -- "$@"
if ((${#programs[@]} == 0)); then
  programs=(sqlite cppcheck)
  ! $quick || programs=(lua)
fi

"$repository/examples/setup.sh" --for=bench
made=$build/bench/instrument
mkdir -p "$made"

# compile SUBJECT PREFIX...: the selected file, with the same debug information for all.
compile() {
  local subject=$1 hearth_flags=() flags=()
  shift
  split_flags hearth_flags "$hearth" flags instrument --compile
  without_plugin flags "${hearth_flags[@]}"
  case $subject in
    hearth) flags=("${hearth_flags[@]}") ;;
    llvm) flags+=(-fmemory-profile) ;;
  esac
  "$@" "$clang" -O2 -g1 "${flags[@]}" "${compile_flags[@]}" -c "$tree/$file" -o "$made/$subject.o"
}

code() { size "$made/$1.o" | awk 'NR == 2 { print $1 }'; }

for program in "${programs[@]}"; do
  select_program "$program"
  file=$(cd "$tree" && stat -c '%s %n' "${sources[@]}" | sort -rn | awk 'NR == 1 { print $2 }')
  say "compiling $file of $program, $rounds rounds"
  paired "$made/$program" "$rounds" compile plain llvm hearth
  ratio_title "$program: $file"
  ratio_rows "hearth / llvm" "$made/$program" hearth llvm
  ratio_rows "hearth / plain" "$made/$program" hearth plain
  printf 'bytes of code: plain %d, llvm %d, hearth %d\n' "$(code plain)" "$(code llvm)" "$(code hearth)"
done
