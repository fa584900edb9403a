#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The whole path on a program that nobody here wrote, from the distribution's source package. Contexts that pass through
# another source file, as those of an allocation wrapper do, are separated by inlining across files; so the program is
# linked as LLVM bitcode first and optimised as a whole, with and without profile.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=../lib.sh source-path=SCRIPTDIR
source ../lib.sh

usage() {
  cat <<END
usage: examples/realworld/run.sh [--fetch | --profile] [--quick] PROGRAM
  PROGRAM    jq      a filter for JSON; allocates through a wrapper in a file of its own
             lua     an interpreter; all its memory comes from one call behind a function pointer
             ninja   a build tool in C++; allocates in functions of the standard library
             sqlite  a database; its memory comes from one call behind a function pointer, too
  --fetch    only fetch the source package and generate what its build system would
  --profile  the same, and only profile the program: build/realworld/PROGRAM/PROGRAM.prof
  --quick    small inputs, one run of each build
Everything that is made is below build/realworld, the source package too.
END
}

fetch_only=false
profile_only=false
quick=false
program=
parse_arguments '--fetch fetch_only=true' '--profile profile_only=true' --quick 'program=jq|lua|ninja|sqlite' -- "$@"
[[ $program ]] || { usage >&2 && misused "say which program"; }

runs=5
$quick && runs=1
work=$build/realworld/$program
tree=$work/source # the unpacked package

# Each program's file sets or defines:
#   package                       name of the source package
#   prepare                       what its build system would generate, below $tree
#   sources                       files to compile, relative to $tree
#   compile_flags, link_flags     its own
#   training, measured            inputs, smaller with --quick
#   workload                      see lib.sh
# shellcheck source=jq.sh source-path=SCRIPTDIR
source "./$program.sh"
# shellcheck source=package.sh source-path=SCRIPTDIR
source ./package.sh

../setup.sh --for=realworld
mkdir -p "$work"
clang=clang-$llvm
opt=(opt-"$llvm" "-passes=default<O2>")

fetch_once
$fetch_only && exit

instrument_flags=() instrument_link_flags=() plain_flags=() allocator_flags=()
split_flags instrument_flags "$hearth" flags instrument --compile
split_flags instrument_link_flags "$hearth" flags instrument --link
without_plugin plain_flags "${instrument_flags[@]}"

# build_bitcode: all of the program in one module, not optimised yet, only main visible from outside. It has the frame
# pointers that the profiling version needs, so that all variants come from the same input.
build_bitcode() {
  local source objects=()
  mkdir -p "$work/bitcode"
  for source in "${sources[@]}"; do
    objects+=("$work/bitcode/$(basename "$source" .c).bc")
    "$clang" -O2 -Xclang -disable-llvm-passes -emit-llvm "${plain_flags[@]}" "${compile_flags[@]}" \
      -c "$tree/$source" -o "${objects[-1]}"
  done
  llvm-link-"$llvm" "${objects[@]}" -o "$work/linked.bc"
  opt-"$llvm" -passes=internalize -internalize-public-api-list=main "$work/linked.bc" -o "$work/program.bc"
}
if ! is_current "$work/program.bc" run.sh "$program.sh" "$tree"; then
  step "building $program as bitcode" "$work/bitcode.log" build_bitcode
fi

# build_variant NAME OPT_FLAGS -- LINK_FLAGS: optimise the whole program, then generate code and link.
build_variant() {
  local name=$1 opt_flags=()
  shift
  while [[ $1 != -- ]]; do
    opt_flags+=("$1")
    shift
  done
  "${opt[@]}" "${opt_flags[@]}" "$work/program.bc" -o "$work/$name.bc"
  "$clang" -O2 -Xclang -disable-llvm-passes -c "$work/$name.bc" -o "$work/$name.o"
  "$clang" "$work/$name.o" "${@:2}" "${link_flags[@]}" -o "$work/$name"
}

if ! is_current "$work/instrumented" "$work/program.bc" "$plugin" "$build/lib/libhearth_rt.so"; then
  step "building the profiling version" "$work/build.log" build_variant instrumented \
    "-load-pass-plugin=$plugin" -memprof-instrument -- "${instrument_link_flags[@]}"
fi

# profile: run the profiling version, which writes a profile per process, and index them together.
profile() {
  rm -f "$work"/raw.*
  HEARTH_OPTIONS=log_path=$work/raw workload "$training" "$work/instrumented" >"$work/training.out"
  "$hearth" index "$work"/raw.* -o "$work/profile.new"
  mv "$work/profile.new" "$work/$program.prof"
}
if ! is_current "$work/$program.prof" "$work/instrumented" "$hearth"; then
  step "profiling" "$work/profile.log" profile
fi
$profile_only && exit

say "what the profile says is hot and cold, and where: hearth show"
show_profile "$work/$program.prof" 45 "$work/show.txt"

split_flags allocator_flags "$hearth" flags use "$work/$program.prof" --link

# build_variants: same bitcode, same passes; what differs is the profile and the allocator.
build_variants() {
  build_variant plain --
  build_variant allocator -- "${allocator_flags[@]}"
  "$clang" -O2 -I"$repository/runtime/include" -c ../placement.c -o "$work/placement.o"
  build_variant hinted "-load-pass-plugin=$plugin" "-memprof-use=$work/$program.prof" -- \
    "$work/placement.o" "${allocator_flags[@]}"
  llvm-dis-"$llvm" "$work/hinted.bc" -o "$work/hinted.ll"
}
if ! is_current "$work/hinted" "$work/$program.prof" "$plugin" ../placement.c "$build/lib/libhearth_malloc.so"; then
  step "building without and with the profile" "$work/build.log" build_variants
fi

say "the hints that allocation calls got"
show_hints "$work/hinted.ll" >"$work/hints.txt"
summarise_hints "$work/hints.txt"
head -n 20 "$work/hints.txt"
echo "... all: $work/hints.txt"

rm -f "$work/placement.txt"
PLACEMENT_REPORT=$work/placement.txt workload "$measured" "$work/hinted" >"$work/placement.out"
say "where the blocks went"
show_placement "$work/placement.txt"

measure "$work" "$runs" "$measured"
same_output "$work"
say "all builds print the same ($(wc -c <"$work/hinted.out") bytes)"

table_title
table_time "$work" "$runs"
table_memory "$work"
cat <<END

'allocator' has Hearth's allocator linked in but was optimised without a profile.
END
