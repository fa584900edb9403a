#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Do optimised programs ask for the placement that the profile says? Each program is compiled with its profile, recorded
# with the hint of each allocation (test/tools/hint_scopes.c), and compared with the plan's placements of whole stacks.
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
ways=(inline 'inline,word')

"$repository/examples/setup.sh" --for=bench

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

# profile: link the instrumented objects, run, index.
profile() {
  local program=$directory/instrumented.program
  "$clang" -O2 "$directory"/instrumented/*.o "${runtime_flags[@]}" "${link_flags[@]}" -o "$program"
  rm -f "$directory"/instrumented.raw.*
  HEARTH_OPTIONS=log_path=$directory/instrumented.raw:recursion=$recursion run_program "$training" "$program" >"$directory/instrumented.out"
  "$hearth" index -q "--recursion=$recursion" "$directory"/instrumented.raw.* --binary "$program" -o "$directory/training.prof"
}

# record NAME: link the optimised objects, record with hints, index.
record() {
  local name=$1 linking=() program=$directory/$1.program
  split_flags linking "$hearth" flags use "$directory/training.prof" ${lto:+"--lto=$lto"} --link
  "$clang" -O2 "${linking[@]}" "$directory/$name"/*.o "${link_flags[@]}" -o "$program"
  rm -f "$directory/$name".raw*
  cat >"$program.recorded" <<END
#!/bin/sh
LD_PRELOAD='$build/lib/libhint_scopes.so' HEARTH_OPTIONS=recursion=$recursion exec '$hearth' record -q -o '$directory/$name.raw' -- '$program' "\$@"
END
  chmod +x "$program.recorded"
  run_program "$training" "$program.recorded" >"$directory/$name.out"
  "$hearth" index -q "--recursion=$recursion" "$directory/$name".raw* --binary "$program" -o "$directory/$name.prof"
}

# Bytes, per cent of those that the profile knows placed right, and per cent that it knows.
figures() {
  "$build/bin/verify_placements" --top=0 "$directory/training.prof" "$directory/$1.prof" |
    awk 'NR > 1 { n[NR] = $1; all += $1 } END { known = all - n[5]; printf "%d %.2f %.2f\n", all, known ? 100 * n[2] / known : 0, all ? 100 * known / all : 0 }'
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
  step "profiling" "$directory/record.log" profile
  split_flags use_flags "$hearth" flags use "$directory/training.prof" ${lto:+"--lto=$lto"} --compile
  compile plain
  printf '\n%-24s%12s%18s%16s%12s\n' "$program" bytes "% placed right" "% of stacks known" 'code size'
  printf '%-24s%58s\n' 'without profile' 1.0000
  for way in "${ways[@]}"; do
    step "compiling $program: $way" "$directory/compile-$way.log" \
      compile "$way" -gmlt -fno-optimize-sibling-calls "${use_flags[@]}" -mllvm "-memprof-contexts-by=$way"
    step "recording" "$directory/record.log" record "$way"
    read -r bytes right known < <(figures "$way")
    if $wrong; then
      "$build/bin/verify_placements" --top=1000000 "$directory/training.prof" "$directory/$way.prof" >"$directory/$way.wrong"
    fi
    size=-
    if [[ -z $lto ]]; then
      size=$(awk -v a="$(text_bytes "$way")" -v b="$(text_bytes plain)" 'BEGIN { printf "%.4f", a / b }')
    fi
    printf '%-24s%12s%18s%16s%12s\n' "$way" "$bytes" "$right" "$known" "$size"
  done
done
