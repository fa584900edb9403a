#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The programs of examples/realworld, built with their profiles in each way that a user would, and their own tests run:
# how much of the profile does the compiler find, in the source that was profiled, and after that has changed?
set -euo pipefail
# shellcheck source=../bench/lib.sh source-path=SCRIPTDIR
source "$(dirname "$0")/../bench/lib.sh"

usage() {
  cat <<END
usage: test/e2e/real-builds.sh [--llvm=RELEASE]... [--modes='O2 thin full'] [--lines=N] [--seed=N] [PROGRAM...]
  --llvm    22 (default), 19, 16, 15 or 14; can be repeated
  --modes   -O2 without LTO, thin LTO, full LTO; default: all, before LLVM 19 without LTO back end
  --lines   empty lines that are inserted into a copy of the source; default: 20
  --seed    of the places where; default: 1
  PROGRAM   jq, lua, ninja, sqlite; default: all
Profiles each program with LLVM 22 and builds it, with clang of each release and in each mode, three times: without profile;
with profile; with profile, from a copy of the source into which lines were inserted at random places. Checked is that
  - LLVM's verifier and hearth-verify accept all modules, after compiling and before code generation,
  - the program's own tests pass (lua's package has none), and it prints the same as without profile,
  - of the profile's bytes 95 % are found, with inserted lines 90 %.
Prints a table; exit status 1 after findings. On Debian 12 it installs what is missing; everything it makes is below
build/real-builds and build/realworld.

  found     per cent of the profile's bytes, and of its call sites, that were found; of these sites, as the calls of
            functions that have changed (salvaged)
  calls     with the hint cold, hot, neither (other), of contexts not told apart (uncl.), by decision sites (word)
  %cold     blocks that were placed in cold memory when the program printed its results, in per cent of the allocations
            that the profile classes as cold
  decis.    decision sites
  KiB       text, and what it is more than without profile; the allocator is linked in in both
END
}

releases=() programs=() modes='O2 thin full' lines=20 seed=1
# shellcheck disable=SC2034  # read by the programs' files
quick=false
parse_arguments '--llvm=22|19|16|15|14 releases' '--modes=*' '--lines=[1-9]*' '--seed=[0-9]*' \
  'programs=jq|lua|ninja|sqlite' -- "$@"
for mode in $modes; do
  [[ $mode == O2 || $mode == thin || $mode == full ]] || misused "--modes: 'O2', 'thin' or 'full', not '$mode'"
done
((${#releases[@]} > 0)) || releases=(22)
((${#programs[@]} > 0)) || programs=(jq lua ninja sqlite)

findings=0
finding() {
  printf 'finding: %s\n' "$*" >&2
  findings=$((findings + 1))
}

# insert_lines COUNT SEED FILE...: empty lines at random places of all the files' lines together, where no line is continued.
insert_lines() {
  python3 - "$@" <<'END'
import random, sys
count, seed, paths = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
files = [open(path, "rb").readlines() for path in paths]
places = [(f, i) for f in range(len(files)) for i in range(1, len(files[f])) if not files[f][i - 1].endswith(b"\\\n")]
for f, i in sorted(random.Random(seed).sample(places, count), reverse=True):
    files[f].insert(i, b"\n")
for path, lines in zip(paths, files):
    open(path, "wb").writelines(lines)
END
}

# compile TREE FLAG...: the program's sources to objects in the current folder. What is verified is the bitcode of which
# objects consist in LTO, and from which they are made without.
compile() {
  local inputs=("${sources[@]/#/$1/}")
  shift
  if [[ $mode == O2 ]]; then
    "$clang" -O2 "$@" "${compile_flags[@]}" -emit-llvm -c "${inputs[@]}"
    "$clang" -O2 -Xclang -disable-llvm-passes -c ./*.bc
  else
    "$clang" -O2 "$@" "${compile_flags[@]}" -c "${inputs[@]}"
  fi
}

# objects_in ARRAY FOLDER: the program's objects, into the array of this name. Links leave others beside them.
objects_in() {
  local -n ret_objects=$1
  local source
  ret_objects=()
  for source in "${sources[@]}"; do
    ret_objects+=("$2/$(basename "${source%.*}").o")
  done
}

# link OUTPUT FLAG...: the objects, with the report of where blocks went.
link() {
  local output=$1 saved=() objects=()
  shift
  objects_in objects .
  [[ $mode == O2 ]] || saved=("-Wl,--save-temps")
  "$clang" -O2 "$@" "${saved[@]}" "${objects[@]}" "$work/placement.o" "${link_flags[@]}" -o "$output"
}

# link_tests OUTPUT FLAG...: the program's tests, with its own objects but that of main.
link_tests() {
  local output=$1 objects=() main
  shift
  objects_in objects .
  main=./$(basename "${main_source%.*}").o
  "$clang" -O2 "$@" "${objects[@]/#"$main"/}" "$work"/tests/*.o "${test_link_flags[@]}" "${link_flags[@]}" -o "$output"
}

# build VARIANT TREE FLAG...: the program, and its tests if they are another program, in a folder of the variant's own.
build() {
  local directory=$work/$mode/$1 tree=$2
  shift 2
  rm -rf "$directory"
  mkdir -p "$directory/objects"
  cd "$directory/objects"
  compile "$tree" "$@"
  link ../program "$@"
  [[ ! $main_source ]] || link_tests ../tests "$@"
}

# compile_tests: what the program's tests have besides its own objects.
compile_tests() {
  rm -rf "$work/tests"
  mkdir -p "$work/tests"
  cd "$work/tests"
  "$clang" -O2 "${compile_flags[@]}" "${test_compile_flags[@]}" -c "${test_sources[@]/#/$tree/}"
}

# optimised ARRAY DIRECTORY: the modules from which code was generated, into the array of this name.
# shellcheck disable=SC2034  # what is assigned is the caller's
optimised() {
  local -n ret_modules=$1
  if [[ $mode == O2 ]]; then
    ret_modules=("$2"/objects/*.bc)
  else # of thin LTO they are beside the objects, of full LTO beside the program
    mapfile -t ret_modules < <(find "$2" -name '*.4.opt.bc')
    ((${#ret_modules[@]} > 0)) || fail "the linker left no modules in $2"
  fi
}

# verify DIRECTORY: what was compiled and what was linked, by LLVM and by hearth-verify.
verify() {
  local module modules=() objects=()
  optimised modules "$1"
  [[ $mode == O2 ]] || objects_in objects "$1/objects"
  for module in "${modules[@]}" "${objects[@]}"; do
    "opt-$release" -load "$hearth_tree/lib/hearth.so" "-load-pass-plugin=$hearth_tree/lib/hearth.so" \
      "-load-pass-plugin=$hearth_tree/lib/hearth_verify.so" \
      -passes=verify,hearth-verify -disable-output "$module"
  done
}

# print_results DIRECTORY: what the program prints.
print_results() {
  rm -f "$1/placement"
  # shellcheck disable=SC2154  # set by the program's file
  PLACEMENT_REPORT=$1/placement run_program "$training" "$1/program" >"$1/out"
}

# run_tests DIRECTORY: the program's own tests, if it has any.
run_tests() {
  local program=$1/program
  [[ ! $main_source ]] || program=$1/tests
  [[ ! $(type -t self_test) ]] || (cd "$1" && self_test "$program")
}

# try WHAT LOG COMMAND...: a finding if it fails.
try() {
  local what=$1 log=$2
  shift 2
  attempt "$@" >"$log" 2>&1
  ((status == 0)) && return
  tail -n 20 "$log" >&2
  finding "$program, LLVM $release, $mode: $what; see $log"
}

check() {
  local directory=$work/$mode/$1
  try "$1: metadata" "$directory/verify.log" verify "$directory"
  try "$1: own tests" "$directory/tests.log" run_tests "$directory"
  try "$1: run" "$directory/run.log" print_results "$directory"
  try "$1: prints the same" "$directory/same.log" cmp "$work/$mode/plain/out" "$directory/out"
}

# found DIRECTORY: per cent of the bytes, of the call sites, and of these as the calls of changed functions.
found() {
  local bytes='\{[^}]*"bytes":([0-9]+)' sites='\{"all":([0-9]+),"matched":([0-9]+),"salvaged":([0-9]+)'
  sed -E "s/.*\"all\":$bytes.*\"matched\":$bytes.*\"callsites\":$sites.*/\1 \2 \3 \4 \5/" "$1/report" |
    awk '{ bytes += $1; found_bytes += $2; sites += $3; found_sites += $4; salvaged += $5 }
      END {
        if (!bytes || !sites) exit 1
        printf "%.2f %.2f %.2f\n", found_bytes * 100 / bytes, found_sites * 100 / sites, salvaged * 100 / sites
      }'
}

# hinted DIRECTORY: calls "COLD HOT NEITHER UNCLEAR WORD" in the modules that code was generated from.
hinted() {
  local module modules=()
  optimised modules "$1"
  for module in "${modules[@]}"; do
    "llvm-dis-$release" "$module" -o "${module%.bc}.ll"
  done
  awk -f "$repository/examples/hints.awk" "${modules[@]/%.bc/.ll}" | awk '{ calls[$3]++ }
    END { print calls["cold"] + 0, calls["hot"] + 0, calls["neither"] + 0, calls["unclear"] + 0, calls["variable"] + 0 }'
}

# placed DIRECTORY: blocks in cold memory, in per cent of those that the profile has in this class.
placed() {
  "$hearth" show "$profile" | cat - "$1/placement" | awk '
    $1 == "class" { classes = 1 }
    classes && $1 == "cold" && NF > 5 { all = $3 }
    $1 == "cold" && NF == 5 { placed += $2 }
    END { print all ? sprintf("%.1f", placed * 100 / all) : "-" }'
}

text_size() { size "$1" | awk 'NR == 2 { print $1 }'; }

row_format='%-8s%-5s%-6s%-9s%8s%8s%7s%6s%6s%6s%6s%6s%8s%7s%7s%8s\n'
title() {
  # shellcheck disable=SC2059
  printf "\n$row_format" program LLVM mode source 'bytes %' sites salv. cold hot other uncl. word %cold \
    decis. KiB 'more %'
}

# row VARIANT LEAST: the numbers of a build with profile; it is a finding if less than LEAST percent was found.
row() {
  local directory=$work/$mode/$1 coverage hints plain size sites
  read -ra coverage <<<"$(found "$directory")"
  read -ra hints <<<"$(hinted "$directory")"
  plain=$(text_size "$work/$mode/plain/program") size=$(text_size "$directory/program")
  sites=$(grep -c "decision site:" "$directory.log" || true)
  # shellcheck disable=SC2059
  rows+=("$(printf "$row_format" "$program" "$release" "$mode" "$1" "${coverage[@]}" "${hints[@]}" "$(placed "$directory")" \
    "$sites" "$((size / 1024))" "$(awk "BEGIN { printf \"%+.1f\", ($size - $plain) * 100 / $plain }")")")
  awk "BEGIN { exit !(${coverage[0]} < $2) }" || return 0
  finding "$program, LLVM $release, $mode: $1: less than $2 % of the profile's bytes were found"
}

# build_mode: the three builds of one mode, checked.
build_mode() {
  local use_flags=() plain_flags=() report=() variant
  local flags=("$hearth_tree/bin/hearth" flags use "$profile" "--clang=$clang")
  [[ $mode == O2 ]] || flags+=("--lto=$mode")
  split_flags use_flags "${flags[@]}"
  without_plugin plain_flags "${use_flags[@]}"
  step "$program, LLVM $release, $mode: building without profile" "$work/$mode/plain.log" \
    build plain "$tree" "${plain_flags[@]}"
  print_results "$work/$mode/plain"
  for variant in matching changed; do
    report=("-mllvm" "-memprof-report=$work/$mode/$variant/report" "-Rpass=hearth")
    step "$program, LLVM $release, $mode: building with profile, $variant source" "$work/$mode/$variant.log" \
      build "$variant" "${trees[$variant]}" "${use_flags[@]}" "${report[@]}"
    check "$variant"
    row "$variant" "${least[$variant]}"
  done
}

# build_program RELEASE: all modes of the selected program.
build_program() {
  local release=$1 hearth_tree=$build clang=clang-$1 mode
  [[ $release == 22 ]] || hearth_tree=$build-llvm$release
  work=$build/real-builds/$program-$release
  trees=([matching]=$tree [changed]=$work/changed)
  rm -rf "$work/changed"
  mkdir -p "$work"
  cp -r "$tree" "$work/changed"
  insert_lines "$lines" "$seed" "${sources[@]/#/$work/changed/}"
  "$clang" -O2 -I"$repository/runtime/include" -c "$repository/examples/placement.c" -o "$work/placement.o"
  [[ ! $main_source ]] || is_current "$work/tests" "$realworld/$program.sh" "$tree" ||
    step "$program, LLVM $release: building its tests" "$work/tests.log" compile_tests
  for mode in $modes; do
    build_mode
  done
}

declare -A trees least=([matching]=95 [changed]=90)
rows=()
for release in "${releases[@]}"; do
  "$repository/examples/setup.sh" --for=test "--llvm=$release"
done
for program in "${programs[@]}"; do
  "$realworld/run.sh" --profile "$program"
  unset -f self_test
  main_source='' test_sources=() test_compile_flags=() test_link_flags=()
  select_program "$program"
  profile=$build/realworld/$program/$program.prof
  for release in "${releases[@]}"; do
    build_program "$release"
  done
done
title
printf '%s\n' "${rows[@]}"
((findings == 0))
