#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# pipelines.sh on the programs of examples/realworld: code that nobody here wrote, through the pipelines of every release.
set -euo pipefail
# shellcheck source=../bench/lib.sh source-path=SCRIPTDIR
source "$(dirname "$0")/../bench/lib.sh"

usage() {
  cat <<END
usage: test/e2e/real-programs.sh [--llvm=RELEASE]... [--levels='O2 O3'] [PROGRAM...]
  --llvm    22, 19, 16, 15 or 14; can be repeated; default: 22, 19 and 14
  --levels  optimisation levels; default: O2 O3
  PROGRAM   jq, lua, sqlite (default: all three)
Profiles each program with LLVM 22, compiles its modules with clang of each release, and takes them through that
release's pipelines; test/e2e/pipelines.sh --help says which, and what is checked. Prints a table for each program and
release; exit status 1 after findings. With two idle processors jq takes two minutes for each release, lua about the
same, sqlite much longer. On Debian 12 it installs what is missing; everything it makes is below build/pipelines and
build/realworld.
END
}

releases=() programs=() levels='O2 O3'
parse_arguments '--llvm=22|19|16|15|14 releases' '--levels=*' 'programs=jq|lua|sqlite' -- "$@"
((${#releases[@]} > 0)) || releases=(22 19 14)
((${#programs[@]} > 0)) || programs=(jq lua sqlite)
# shellcheck disable=SC2034  # read by the programs' files
quick=false

# compile RELEASE DIRECTORY: the modules of the selected program, as bitcode that is not optimised yet.
compile() {
  local release=$1 directory=$2 hearth_flags=() flags=() source
  split_flags hearth_flags "$hearth" flags instrument --compile
  without_plugin flags "${hearth_flags[@]}"
  rm -rf "$directory"
  mkdir -p "$directory"
  for source in "${sources[@]}"; do
    "clang-$release" -O2 -Xclang -disable-llvm-passes -emit-llvm "${flags[@]}" "${compile_flags[@]}" \
      -c "$tree/$source" -o "$directory/$(basename "$source" .c).bc"
  done
}

failed=0
for release in "${releases[@]}"; do
  "$repository/examples/setup.sh" --for=test "--llvm=$release"
done
for program in "${programs[@]}"; do
  "$realworld/run.sh" --profile "$program"
  select_program "$program"
  for release in "${releases[@]}"; do
    work=$build/pipelines/$program-$release
    tree_of_release=$build
    [[ $release == 22 ]] || tree_of_release=$build-llvm$release
    step "compiling $program with clang $release" "$work/compile.log" compile "$release" "$work/modules"
    printf '\n%s, LLVM %s\n' "$program" "$release"
    PATH=/usr/lib/llvm-$release/bin:$PATH "$repository/test/e2e/pipelines.sh" "--levels=$levels" \
      "--plugin=$tree_of_release/lib/hearth.so" "--profile=$build/realworld/$program/$program.prof" \
      "--work=$work/run" "$work/modules"/*.bc || failed=1
  done
done
exit "$failed"
