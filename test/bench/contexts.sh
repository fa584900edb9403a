#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Do optimised programs ask for the placement that the profile says? Each program is compiled with its profile, and linked
# with an oracle in place of the allocator (contexts/given.c): the profiling runtime records the whole call stack of each
# allocation and the placement that it asked for. That is right if the plan has it for the stack.
# shellcheck disable=SC2034  # what the programs' files read
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=lib.sh
source ./lib.sh

usage() {
  cat <<END
usage: test/bench/contexts.sh [--quick] [--wrong] [--recursion=full] [--lto=KIND] [PROGRAM...]
  PROGRAM  jq, lua or sqlite (examples/realworld) or split (test/e2e/Inputs); default: all
  --quick  small inputs
  --recursion=full  recursion is not folded in profiles, as it is by default
  --lto=KIND  the optimised programs are linked with LTO, thin or full; sizes are not printed
  --wrong  list the stacks that got the wrong placement, in build/bench/PROGRAM/contexts/*.wrong
Files are compiled one by one. Prints, for each way to tell contexts apart (-memprof-contexts-by), how many percent of
the bytes got the placement that is right, and the size of the code.
END
}

programs=() wrong=false recursion=fold
lto=''
quick=false
parse_arguments --quick --wrong '--lto=thin|full' '--recursion=full|fold' 'programs=jq|lua|sqlite|split' -- "$@"
((${#programs[@]} > 0)) || programs=(split jq lua sqlite)
ways=(inline 'inline,clone' 'inline,word' 'inline,clone,word')

"$repository/examples/setup.sh" --for=bench
build_tools compare

# select_split: the toy, in the form of lib.sh's programs.
select_split() {
  program=split work=$build/bench/split tree=$repository/test/e2e/Inputs
  sources=(allocate.c split.c) compile_flags=("-I$tree") link_flags=() training=''
  mkdir -p "$work"
  workload() { "${@:2}"; }
}

# compile NAME FLAGS...: the objects of the selected program, each compiled by itself, in $directory/NAME.
compile() {
  local name=$1 source objects=$directory/$1
  shift
  rm -rf "$objects"
  mkdir -p "$objects"
  for source in "${sources[@]}"; do
    "$clang" -O2 "${plain_flags[@]}" "$@" "${compile_flags[@]}" -c "$tree/$source" \
      -o "$objects/$(basename "$source" .c).o"
  done
}

# lto_flags: what `hearth flags` has a link given, without the adapter, in whose place the oracle is.
lto_flags() {
  "$hearth" flags use "$directory/training.prof" "--lto=$lto" --link |
    sed 's/ -Wl,-u,[^ ]*//; s/ -lhearth_hotcold//'
}

# record NAME OUTPUT OBJECT...: link with the runtime, run, index; further objects beside NAME's.
record() {
  local name=$1 output=$2 linking=()
  if [[ -n $lto && $# -gt 2 ]]; then
    split_flags linking lto_flags
  fi
  "$clang" -O2 "${plain_flags[@]}" "${linking[@]}" "$directory/$name"/*.o "${@:3}" "${runtime_flags[@]}" "${link_flags[@]}" \
    -o "$directory/$name.oracle"
  rm -f "$directory/$name".raw.*
  HEARTH_OPTIONS=log_path=$directory/$name.raw:recursion=$recursion run_program "$training" "$directory/$name.oracle" >"$directory/$name.out"
  "$hearth" index -q "--recursion=$recursion" "$directory/$name".raw.* --binary "$directory/$name.oracle" -o "$output"
}

text_bytes() { size "$directory/$1"/*.o | awk 'NR > 1 { sum += $1 } END { print sum }'; }

for program in "${programs[@]}"; do
  if [[ $program == split ]]; then
    select_split
  else
    select_program "$program"
  fi
  directory=$work/contexts
  mkdir -p "$directory"
  instrument_flags=() plain_flags=() runtime_flags=() use_flags=()
  split_flags instrument_flags "$hearth" flags instrument --compile
  without_plugin plain_flags "${instrument_flags[@]}"
  split_flags runtime_flags "$hearth" flags instrument --link
  step "compiling $program: profiling" "$directory/compile.log" compile instrumented "${instrument_flags[@]}"
  step "profiling" "$directory/record.log" record instrumented "$directory/training.prof"
  "$clang" -O2 "${plain_flags[@]}" -gmlt -I "$repository/runtime/include" -I "$repository/profile/format" \
    -c "$bench/contexts/given.c" -o "$directory/given.o"
  split_flags use_flags "$hearth" flags use "$directory/training.prof" ${lto:+"--lto=$lto"} --compile
  compile plain
  printf '\n%-24s%12s%18s%16s%12s\n' "$program" bytes "% placed right" "% of stacks known" 'code size'
  printf '%-24s%58s\n' 'without profile' 1.0000
  for way in "${ways[@]}"; do
    step "compiling $program: $way" "$directory/compile-$way.log" \
      compile "$way" "${use_flags[@]}" -mllvm "-memprof-contexts-by=$way"
    step "recording" "$directory/record.log" record "$way" "$directory/$way.prof" "$directory/given.o"
    read -r bytes right known < <("$build/bin/bench-compare" "$directory/training.prof" "$directory/$way.prof")
    if $wrong; then
      "$build/bin/bench-compare" "$directory/training.prof" "$directory/$way.prof" wrong | sort -rn >"$directory/$way.wrong"
    fi
    size=-
    if [[ -z $lto ]]; then
      size=$(awk -v a="$(text_bytes "$way")" -v b="$(text_bytes plain)" 'BEGIN { printf "%.4f", a / b }')
    fi
    printf '%-24s%12s%18s%16s%12s\n' "$way" "$bytes" "$right" "$known" "$size"
  done
done
