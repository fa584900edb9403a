#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Profiles of real programs, context by context: are counts and sizes those of LLVM's runtime, and accesses those of an oracle?
# shellcheck disable=SC2154  # what the programs' files set
set -euo pipefail
# shellcheck source=../bench/lib.sh source-path=SCRIPTDIR
source "$(dirname "$0")/../bench/lib.sh"

usage() {
  cat <<END
usage: test/e2e/real-counts.sh [PROGRAM...]
  PROGRAM   lua, sqlite (default: both)
Compiles each program once with LLVM 22 and instruments the same code in three ways: for Hearth's runtime, for LLVM's, and
with callbacks for an oracle that looks up the block of each access (test/runtime/Inputs/oracle.c). Runs all three on the
same small input and compares, for each call stack, the number of blocks, their bytes, the least and the largest (with
LLVM's), and their accesses (with the oracle's; LLVM's are wrong for many sizes). What LLVM's runtime leaves is indexed by
llvm-profdata and by hearth: all numbers are to be the same, as llvm-profdata prints both, and what LLVM makes of the modules
with them. Exit status 1 if something differs. Takes some minutes. On Debian 12 it installs what is missing; everything it
makes is below build/real-counts and build/realworld.
END
}

programs=()
parse_arguments 'programs=lua|sqlite' -- "$@"
((${#programs[@]} > 0)) || programs=(lua sqlite)
# shellcheck disable=SC2034  # read by the programs' files
quick=true

oracle=$repository/test/runtime/Inputs/oracle.c
# What the programs do, and access, would depend on addresses and on the time: lua's seed of its hashes, its cache of strings
# by address, sqlite's pool of small blocks, which it tells from others by address.
fixed_flags=('-Dluai_makeseed(L)=1' -DSTRCACHE_N=1 -DSTRCACHE_M=2 -DSQLITE_OMIT_LOOKASIDE)
# Calls are not to be joined after they were instrumented: in each way others would be.
object_flags=(-O1 -Xclang -disable-llvm-passes -mllvm -enable-tail-merge=false)

# compile SOURCE: as an object, instrumented in each way, of one and the same code.
compile() {
  local name hearth_flags=() flags=() tools=/usr/lib/llvm-$llvm/bin variant
  name=$work/objects/$(basename "$1" .c)
  split_flags hearth_flags "$hearth" flags instrument --compile
  without_plugin flags "${hearth_flags[@]}"
  "$clang" -O2 -gmlt "${flags[@]}" "${compile_flags[@]}" "${fixed_flags[@]}" -emit-llvm -c "$tree/$1" -o "$name.bc"
  "$tools/opt" -load-pass-plugin="$plugin" -passes=hearth-instrument "$name.bc" -o "$name.hearth.bc"
  "$tools/opt" -passes='function(memprof),memprof-module' "$name.bc" -o "$name.llvm.bc"
  "$tools/opt" -passes='function(memprof),memprof-module' -memprof-use-callbacks "$name.bc" -o "$name.oracle.bc"
  for variant in hearth llvm oracle; do
    "$clang" "${object_flags[@]}" -c "$name.$variant.bc" -o "$name.$variant.o"
  done
  "$tools/llvm-objcopy" --redefine-syms="$work/renames" "$name.oracle.o"
}

# Functions whose accesses count are to be the oracle's, and are missing at the link if it has none such; intrinsics are
# callbacks.
compile_all() {
  local source
  rm -rf "$work/objects"
  mkdir -p "$work/objects"
  sed -nE '/"(memcpy|memmove|memset)"/d; s/^HEARTH_LIBRARY\("([a-z]\w*)".*/\1/p' \
    "$repository/annotate/instrument/library_accesses.def" |
    sed -E 'p; s/.*/&64\n&_unlocked\n__isoc99_&\n__isoc23_&/' | sed 's/.*/& oracle_&/' >"$work/renames"
  for source in "${sources[@]}"; do
    compile "$source"
  done
}

link_all() {
  local libraries=()
  split_flags libraries "$hearth" flags instrument --link
  "$clang" -no-pie "$work/objects"/*.hearth.o "${libraries[@]}" "${link_flags[@]}" -o "$work/hearth"
  "$clang" -no-pie -fmemory-profile -Wl,--build-id "$work/objects"/*.llvm.o "${link_flags[@]}" -o "$work/llvm"
  "$clang" -no-pie -O1 -fno-builtin -fno-omit-frame-pointer "$work/objects"/*.oracle.o "$oracle" \
    "${link_flags[@]}" -o "$work/oracle"
}

# run_one VARIANT: and check what it prints. Each process leaves its counts in a file of its own.
run_one() {
  local variant=$1
  run_program "$training" "$repository/test/e2e/Inputs/numbered.sh" "$work/run.$variant" "$work/$variant" \
    >"$work/$variant.out"
  cmp "$work/hearth.out" "$work/$variant.out"
}

# compare_with_profdata NUMBER: LLVM's profile of that process. llvm-profdata prints the same of its own file and of ours, and
# the modules are annotated alike.
compare_with_profdata() {
  local raw=("$work/run.llvm/$1"/raw.*) tools=/usr/lib/llvm-$llvm/bin module version file
  "$tools/llvm-profdata" merge "${raw[@]}" --profiled-binary "$work/llvm" --memprof-version=4 --memprof-full-schema \
    -o "$work/theirs"
  "$tools/llvm-profdata" show --memory "$work/theirs" >"$work/theirs.yaml"
  for version in 3 4; do
    "$hearth" merge -q --recursion=full "${raw[@]}" --binary "$work/llvm" --format=llvm --memprof-version=$version \
      -o "$work/ours"
    "$tools/llvm-profdata" show --memory "$work/ours" >"$work/ours.yaml"
    python3 "$repository/test/profile/Inputs/compare_llvm_yaml.py" "$work/theirs.yaml" "$work/ours.yaml"
  done
  for module in "$work/objects"/*.oracle.bc; do
    module=${module%.oracle.bc}.bc
    for file in theirs ours; do
      "$tools/opt" -passes="memprof-use<profile-filename=$work/$file>" "$module" -S -o "$work/$file.ll"
    done
    cmp "$work/theirs.ll" "$work/ours.ll"
  done
}

findings=0
"$repository/examples/setup.sh" --for=test
for program in "${programs[@]}"; do
  select_program "$program"
  work=$build/real-counts/$program
  mkdir -p "$work"
  step "compiling $program" "$work/compile.log" compile_all
  step "linking $program" "$work/link.log" link_all
  rm -rf "$work"/run.*
  for variant in hearth llvm oracle; do
    step "running $program, $variant" "$work/run.log" run_one "$variant"
  done
  for process in "$work"/run.hearth/*; do
    number=$(basename "$process")
    for variant in hearth llvm; do
      "$hearth" index -q --recursion=full "$work/run.$variant/$number"/raw.* --binary "$work/$variant" \
        -o "$work/$variant.$number.prof"
      "$hearth" show --json "$work/$variant.$number.prof" >"$work/$variant.$number.json"
    done
    "$repository/test/e2e/Inputs/compare_counts.py" "$program, process $number" "$work/hearth.$number.json" \
      "$work/llvm.$number.json" "$work/run.oracle/$number" "$work/oracle" || findings=1
    attempt compare_with_profdata "$number"
    ((status == 0)) || findings=1
  done
done
exit "$findings"
