#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A program is profiled, and built with the profile after something has changed: where do its blocks go?
set -euo pipefail
# shellcheck source=../../examples/lib.sh source-path=SCRIPTDIR
source "$(dirname "$0")/../../examples/lib.sh"
inputs=$(cd "$(dirname "$0")/Inputs/staleness" && pwd)

all_changes=(same edited-callers edited-helper split-line inserted-calls inserted-between deleted-calls swapped-calls other-calls renamed-callers renamed-helper moved-in-file moved-to-file
  caller-O0 caller-unprofiled caller-new caller-of-other-plan helper-of-other-plan other-release loaded)
all_modes=(none thin full)

usage() {
  cat <<END
usage: test/e2e/staleness.sh [--build=DIR]... [--mode=MODE]... [--keep=DIR] [CHANGE...]
  --build   where Hearth was built, for any release (default: build); can be repeated
  --mode    none, thin or full link-time optimisation (default: all, before LLVM 19 none)
  --keep    where what is made stays (default: a temporary folder that is removed)
  CHANGE    ${all_changes[*]:0:7}
            ${all_changes[*]:7:6}
            ${all_changes[*]:13} (default: all)
Each kind of call has 200 cold and 200 hot blocks. A row says how many of all these are placed as the profile says (right),
cold ones elsewhere than in cold memory, or hot ones as without a profile (lost), and others in cold memory (wrong), the last
also for blocks of callers that the profile does not know; and whether the compiler, the linker or the program said so (told). Exit status 1 if a block is
wrong, if blocks are lost without a word, or if there is a loss where nothing has changed.
Files are compiled with -memprof-coverage-threshold=100, which tells of any loss.
other-release takes profiles that the other builds' compilers wrote.
END
}

builds=() modes=() changes=() keep=''
parse_arguments '--build=?* builds' '--mode=none|thin|full modes' '--keep=?*' \
  "changes=$(IFS='|' && echo "${all_changes[*]}")" -- "$@"
((${#builds[@]} > 0)) || builds=("$build")
((${#modes[@]} > 0)) || modes=("${all_modes[@]}")
((${#changes[@]} > 0)) || changes=("${all_changes[@]}")
for i in "${!builds[@]}"; do builds[i]=$(cd "${builds[i]}" && pwd); done
if [[ -z $keep ]]; then
  keep=$(mktemp -d)
  trap 'rm -rf "$keep"' EXIT
fi
mkdir -p "$keep"
keep=$(cd "$keep" && pwd)

release_of() { sed -n 's/^HEARTH_LLVM:[A-Z]*=//p' "$1/CMakeCache.txt"; }

# profile BUILD NAME [FLAG...]: the program of the current folder, profiled by the build, as ../NAME.heap. The second run of
# the same program has another plan.
profile() {
  local build=$1 name=$2 flags=()
  shift 2
  read -r -a flags <<<"$("$build/bin/hearth" flags instrument)"
  "clang-$(release_of "$build")" -O2 "$@" "${flags[@]}" helper.c callers.c main.c -o profiled
  LD_PRELOAD=$build/lib/librun_clock.so HEARTH_OPTIONS=log_path=$PWD/raw ./profiled
  "$build/bin/hearth" index --layout=calls -q raw.* --binary profiled -o "../$name.heap"
  rm -f raw.* profiled
}

# The library and the program of `loaded`, profiled.
profile_loaded() {
  local build=$1 clang compile=() link=()
  clang=clang-$(release_of "$build")
  read -r -a compile <<<"$("$build/bin/hearth" flags instrument --compile)"
  read -r -a link <<<"$("$build/bin/hearth" flags instrument --link)"
  "$clang" -O2 "${compile[@]}" -fPIC -shared helper.c -o libhelper.so
  "$clang" -O2 "${compile[@]}" "${link[@]}" -rdynamic -DLOADED callers.c main.c -o profiled -ldl
  LD_PRELOAD=$build/lib/librun_clock.so HEARTH_OPTIONS=log_path=$PWD/raw ./profiled
  "$build/bin/hearth" index --layout=calls -q raw.* -o ../loaded.heap
  rm -f raw.* profiled libhelper.so
}

# The source of the current folder, changed.
change_source() {
  case $1 in
    edited-callers)
      # shellcheck disable=SC2016
      sed -i 's/^static .* \(fill\|make\)_.*{$/&\n  static volatile int calls;\n  calls++;\n  if (calls < 0)\n    __builtin_trap();/' callers.c
      ;;
    edited-helper) sed -i 's/^__attribute__.*{$/&\n  static volatile int calls;\n  calls++;\n  if (calls < 0)\n    __builtin_trap();/' helper.c ;;
    split-line) sed -i 's/helper(42), /helper(42),\n  /; s/BLOCKS; i++) /BLOCKS; i++)\n    /' callers.c ;;
    inserted-calls) # above those of the profile; in one line, behind its first one
      sed -i 's/^  cold\[LINES\].*/  more[LINES][i] = helper(54);\n&/; s/, hot\[ONE_LINE\]/, more[ONE_LINE][i] = helper(55)&/
        s/^  one\[i\].*/  more[ONE_COLUMN][i] = helper(56);\n&/; s/^  for .*cold\[LOOPS\].*/  for (int i = 0; i < BLOCKS; i++) more[LOOPS][i] = helper(57);\n&/
        s/^  cold\[WRAPPED\].*/  more[WRAPPED][i] = wrap(58);\n&/' callers.c
      ;;
    inserted-between) # in the columns of those of the profile
      sed -i 's/^  hot\[LINES\].*/  more[LINES][i] = helper(54);\n&/; s/cold\[ONE_LINE\]/more[ONE_LINE][i] = helper(55), &/
        s/\*\*two = hot\[ONE_COLUMN\]/&, **new = more[ONE_COLUMN]/; s/^  two\[i\].*/  new[i] = helper(56);\n&/
        s/^  for .*hot\[LOOPS\].*/  for (int i = 0; i < BLOCKS; i++) more[LOOPS][i] = helper(57);\n&/
        s/^  hot\[WRAPPED\].*/  more[WRAPPED][i] = wrap(58);\n&/' callers.c
      ;;
    deleted-calls) # those of cold blocks
      sed -i '/^  cold\[\(LINES\|WRAPPED\)\]/d; /^  one\[i\]/d; /^  for .*cold\[LOOPS\]/d; s/cold\[ONE_LINE\].*, //' callers.c
      ;;
    swapped-calls) # all but those of one column: nobody can see that
      sed -i '/^  cold\[\(LINES\|WRAPPED\)\]/ { h; d }; /^  for .*cold\[LOOPS\]/ { h; d }
        /^  hot\[\(LINES\|WRAPPED\)\]/ G; /^  for .*hot\[LOOPS\]/ G
        s/  \(cold.ONE_LINE.*\), \(hot.ONE_LINE.*\);/  \2, \1;/' callers.c
      ;;
    other-calls) # of another function, between those of the profile
      sed -i 's/^  \(hot\[LINES\]\|two\[i\]\|hot\[WRAPPED\]\)/  other(i);\n&/; s/, hot\[ONE_LINE\]/, other(i)&/; s/^  for .*hot\[LOOPS\]/  other(0);\n&/
        s/^static .*fill_lines/static __attribute__((noinline)) void other(int i) {\n  static volatile int last;\n  last = i;\n}\n\n&/' callers.c
      ;;
    renamed-callers) mv callers.c users.c ;;
    renamed-helper) mv helper.c memory.c ;;
    moved-in-file) # fill_lines goes to the end
      awk '/^static .*fill_lines/ { moving = 1; print "static void fill_lines(int i);" } moving { text = text $0 "\n" } !moving { print }
        moving && /^}/ { moving = 0 } END { printf "\n%s", text }' callers.c >moved.c && mv moved.c callers.c
      ;;
    moved-to-file) # fill_lines goes to main.c
      sed -i 's/^static \(.*fill_lines\)/\1/' callers.c
      awk '/fill_lines\(int i\) {/ { moving = 1; print "void fill_lines(int i);" } moving { print > "moved.h" } !moving { print }
        moving && /^}/ { moving = 0 }' callers.c >moved.c && mv moved.c callers.c
      awk '{ print } /^#include <stdio.h>/ { print "#include <unistd.h>"; while ((getline line < "moved.h") > 0) print line }' main.c >moved.c
      mv moved.c main.c && rm moved.h
      ;;
  esac
}

# Compile one file of the current folder with a profile. Arguments: PROFILE FILE FLAG...
compile() {
  local profile=$1 file=$2 lto=() flags=() text
  shift 2
  [[ $mode == none ]] || lto=("--lto=$mode")
  text=$("$build/bin/hearth" flags use "$profile" --compile "${lto[@]}")
  read -r -a flags <<<"$text"
  "$clang" -O2 "${flags[@]}" -mllvm -memprof-coverage-threshold=100 "$@" -c "$file" -o "${file%.c}.o" 2>>log
}

link_program() {
  local lto=() flags=() text
  [[ $mode == none ]] || lto=("--lto=$mode")
  text=$("$build/bin/hearth" flags use "$1" --link "${lto[@]}")
  shift
  read -r -a flags <<<"$text"
  "$clang" -O2 "${flags[@]}" "$@" -o program -ldl 2>>log
}

# Build the changed program and run it; its words are in `out`, everybody else's in `log`.
build_changed() {
  local change=$1 file profile=../first.heap extra=()
  local callers=callers.c helper=helper.c
  [[ $change != other-release ]] || profile=../other.heap
  [[ $change != renamed-callers ]] || callers=users.c
  [[ $change != renamed-helper ]] || helper=memory.c
  [[ $change != caller-new ]] || extra=(-DFRESH)
  change_source "$change"
  if [[ $change == loaded ]]; then
    profile=../loaded.heap
    compile $profile helper.c -fPIC
    if [[ $mode == none ]]; then
      "$clang" -shared helper.o -o libhelper.so
    else
      link_program $profile helper.o -shared && mv program libhelper.so
    fi
    compile $profile callers.c && compile $profile main.c -DLOADED
    link_program $profile callers.o main.o
  else
    for file in main.c "$callers" "$helper"; do
      case $change:$file in
        caller-O0:callers.c) compile "$profile" "$file" -O0 ;;
        caller-unprofiled:callers.c) "$clang" -O2 -c "$file" -o callers.o ;;
        caller-of-other-plan:callers.c | helper-of-other-plan:helper.c) compile ../second.heap "$file" ;;
        *) compile "$profile" "$file" "${extra[@]}" ;;
      esac
    done
    link_program "$profile" main.o "${callers%.c}.o" "${helper%.c}.o"
  fi
  ./program >out 2>>log
}

# Sums "right lost wrong" of `out`: each line has counts elsewhere/cold/hot.
sum_up() {
  awk '{
    for (i = 2; i < NF; i += 2) {
      split($(i + 1), n, "/")
      if ($i == "cold") { right += n[2]; lost += n[1] + n[3] }
      else if ($i == "hot") { right += n[3]; lost += n[1]; wrong += n[2] }
      else { right += n[1] + n[3]; wrong += n[2] }
    }
  } END { print right + 0, lost + 0, wrong + 0 }' out
}

status=0
# check CHANGE: a row of the table, in a folder of its own.
check() {
  local change=$1 right lost wrong told=no verdict=''
  rm -rf "$keep/work/try" && mkdir -p "$keep/work/try"
  cp "$inputs"/* "$keep/work/try"
  cd "$keep/work/try"
  : >log
  if ! build_changed "$change"; then
    verdict=failed
    cat log >&2
    right=0 lost=0 wrong=0
  else
    read -r right lost wrong <<<"$(sum_up)"
  fi
  ! grep -qiE 'heap profile|hearth' log || told=yes
  ((wrong == 0)) || verdict=WRONG
  if ((lost > 0)) && [[ -z $verdict ]] && [[ $told == no || $change == same ]]; then verdict=SILENT; fi
  [[ -z $verdict ]] || status=1
  printf '%-8s %-5s %-22s %6d %6d %6d  %-4s %s\n' "$release" "$mode" "$change" "$right" "$lost" "$wrong" "$told" "$verdict"
  cp log "$keep/$release-$mode-$change.log"
  [[ ! -e out ]] || cp out "$keep/$release-$mode-$change.out"
}

printf '%-8s %-5s %-22s %6s %6s %6s  %-4s\n' release LTO change right lost wrong told
for build in "${builds[@]}"; do
  release=$(release_of "$build") clang=clang-$(release_of "$build")
  rm -rf "$keep/work" && mkdir -p "$keep/work/program"
  cp "$inputs"/* "$keep/work/program"
  cd "$keep/work/program"
  profile "$build" first
  profile "$build" again
  "$build/bin/hearth" merge --layout=calls -q ../first.heap ../again.heap -o ../second.heap
  profile_loaded "$build"
  for mode in "${modes[@]}"; do
    ((release >= 19)) || [[ $mode == none ]] || continue
    for change in "${changes[@]}"; do
      if [[ $change != other-release ]]; then
        check "$change"
        continue
      fi
      for other in "${builds[@]}"; do
        [[ $other != "$build" ]] || continue
        (cd "$keep/work/program" && profile "$other" other)
        check "$change"
      done
    done
  done
done
exit $status
