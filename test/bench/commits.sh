#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Old profiles, new sources: ten commits of lua, each compiled with a profile of an older one and with a fresh one of its own.
# Do they place alike?
# shellcheck disable=SC2034  # what parse_arguments sets
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=lib.sh
source ./lib.sh

usage() {
  cat <<END
usage: test/bench/commits.sh [--quick] [--repository=URL]
  --repository=URL  lua's (default https://github.com/lua/lua)
  --quick           one commit
Of the commits to C files, the newest ten are compiled; the old profile is that of the fortieth before the last. Prints, for
each, the bytes that three scripts allocate, per cent of them that have a hint by the fresh profile, per cent that both
profiles give a hint of the same kind (cold, an id, none), and per cent that they give the same hint.
END
}

quick=false repository_url=https://github.com/lua/lua commits=10 age=40
parse_arguments '--quick quick=true commits=1' '--repository=?* repository_url' -- "$@"

"$repository/examples/setup.sh" --for=bench
work=$build/bench/commits
mkdir -p "$work"
[[ -d $work/lua.git ]] || step "fetching lua" "$work/fetch.log" git clone -q --bare "$repository_url" "$work/lua.git"
mapfile -t newest < <(git -C "$work/lua.git" log --first-parent -n $((age + 1)) --format=%h -- '*.c' '*.h')

# Lua seeds its tables by addresses and time, and orders of allocation with them.
lua_flags=(-w -O2 -DLUA_USE_POSIX "-Dluai_makeseed(...)=0" "-Dl_randomizePivot(...)=0")
instrument_flags=() runtime_flags=()
split_flags instrument_flags "$hearth" flags instrument --compile
split_flags runtime_flags "$hearth" flags instrument --link

# select_commit COMMIT: its sources, in $tree.
select_commit() {
  tree=$work/$1
  [[ -d $tree ]] && return
  mkdir -p "$tree.new"
  git -C "$work/lua.git" archive "$1" | tar -x -C "$tree.new"
  rm -f "$tree.new"/{onelua,ltests}.c
  mv "$tree.new" "$tree"
}

# build_here TO COMPILE_FLAGS... -- LINK_FLAGS...: $tree/TO of the selected commit. The names of files are the same for all.
build_here() {
  local to=$1 compile_with=()
  shift
  while [[ $1 != -- ]]; do
    compile_with+=("$1")
    shift
  done
  (cd "$tree" && "$clang" "${compile_with[@]}" "${lua_flags[@]}" ./*.c "${@:2}" -lm -o "$to")
}

# run_scripts NUMBER COMMAND...: the three scripts, of some size.
run_scripts() {
  local number=$1
  shift
  # Without random addresses: tables are keyed by addresses, too.
  (
    cd "$realworld"
    setarch -R "$@" lua/binary_trees.lua $((7 + number % 4))
    setarch -R "$@" lua/strings.lua $((3000 * (1 + number % 5)))
    setarch -R "$@" lua/tables.lua $((3000 * (1 + number * 3 % 5)))
  )
}

# profile: 30 runs of the selected commit.
profile() {
  local number
  rm -rf "$tree/raw"
  mkdir "$tree/raw"
  build_here instrumented "${instrument_flags[@]}" -- "${runtime_flags[@]}"
  for number in 1 2 3 4 5 6 7 8 9 10; do
    HEARTH_OPTIONS=log_path=$tree/raw/$number run_scripts "$number" "$tree/instrumented" >/dev/null
  done
  "$hearth" index -q "$tree"/raw/* -o "$tree/profile.heap"
}

# hinted PROFILE TO: $tree/TO, the selected commit by the profile; it writes size and hint of each allocation to $HINTS.
hinted() {
  local compile=() link=() wrapped=() name
  split_flags compile "$hearth" flags use "$1" --compile
  split_flags link "$hearth" flags use "$1" --link
  for name in malloc calloc realloc; do wrapped+=("-Wl,--wrap=$name,--wrap=${name}_hot_cold"); done
  build_here "$2" "${compile[@]}" -- "$work/hints.o" "${wrapped[@]}" "${link[@]}"
}

# compare: both builds of the selected commit, and what they ask for.
compare() {
  hinted "$old" by-old
  hinted "$tree/profile.heap" by-fresh
  rm -f "$tree"/*.hints
  for name in old fresh; do # under one name, which is a string of lua's
    ln -sf "by-$name" "$tree/lua"
    HINTS=$tree/$name.hints run_scripts 2 "$tree/lua" >"$tree/$name.out"
  done
  cmp "$tree/old.out" "$tree/fresh.out"
  python3 commits/compare.py "$tree/old.hints" "$tree/fresh.hints" >"$tree/row"
}

"$clang" -O2 -c commits/hints.c -o "$work/hints.o"
select_commit "${newest[age]}"
old=$tree/profile.heap
is_current "$old" "$hearth" "$plugin" || step "profiling ${newest[age]}" "$work/profile.log" profile
say "the old profile: $(git -C "$work/lua.git" log -1 --format='%h, %as' "${newest[age]}")"
for ((i = commits - 1; i >= 0; i--)); do
  select_commit "${newest[i]}"
  is_current "$tree/profile.heap" "$hearth" "$plugin" || step "profiling ${newest[i]}" "$work/profile.log" profile
  is_current "$tree/row" "$tree/profile.heap" "$old" || step "comparing ${newest[i]}" "$work/compare.log" compare
done
printf '\n%-12s%14s%14s%14s%14s\n' commit bytes '% with hints' '% same kind' '% same hint'
for ((i = commits - 1; i >= 0; i--)); do
  printf '%-12s%s\n' "${newest[i]}" "$(cat "$work/${newest[i]}/row")"
done
