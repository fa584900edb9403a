#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What is an optimised program worth? Programs built in each way that a user would, against their plain builds, on other
# inputs than they were profiled with. Everything is printed, losses too.
# shellcheck disable=SC2034,SC2154  # what the programs' files read and set
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=lib.sh
source ./lib.sh

usage() {
  cat <<END
usage: test/bench/benefit.sh [--quick] [--rounds=N] [--builds=NAME,...] [--table] [PROGRAM...]
  PROGRAM     quickstart (the bundled store), redis, jq, ninja (C++), lua or sqlite; default: all
  --rounds=N  measured rounds (default 9)
  --quick     small inputs, one round
  --builds    which of the builds below, after plain; default: all; clone needs thin
  --table     print the table of the last run again
Builds of each program, all by the same clang, files one by one unless said:
  plain       without profile
  adapter     the same, with the allocator adapter linked in: what it does without hints
  inline      with profile, contexts told apart where allocation calls were inlined
  word        and by clones in a file and decision sites, the default
  shuffled    the same, from a profile in which the contexts have each other's numbers: what wrong verdicts cost
  thin        without profile, thin LTO
  clone       with profile, thin LTO, contexts told apart by inlining and clones of the whole program
Columns:
  time, CPU   least, median and greatest ratio to plain (of clone: to thin) in one round
  peak, rest  resident memory in MiB: the greatest, and the median of the second half of a run
  TLB, LL     misses of a data TLB of 64 pages of 4 KiB, and of the last-level cache, simulated by cachegrind (millions)
  instr.      instructions, in millions, likewise
  KiB         code
  hot%        accesses of the program's own code to its heap that stay out of the cold range
  pages       of 4 KiB that the second half of a run touches; of them in the cold range (cold); as many as take 99 % of
              the accesses (busy)
'oracle' are the pages of an allocator that knows what each block will be used for (benefit/oracle.c).
END
}

programs=() rounds=9 quick=false table_only=false chosen=adapter,inline,word,shuffled,thin,clone
parse_arguments '--quick quick=true rounds=1' '--table table_only=true' '--builds=?* chosen' '--rounds=[1-9]*' \
  'programs=quickstart|redis|jq|ninja|lua|sqlite' -- "$@"
((${#programs[@]} > 0)) || programs=(quickstart redis jq ninja lua sqlite)
builds=(plain) counted=(plain)
for name in ${chosen//,/ }; do
  case $name in
    adapter | thin) ;; # blocks lie where they do in plain
    inline | word | shuffled) counted+=("$name") ;;
    clone)
      [[ ,$chosen, == *,thin,* ]] || misused "--builds: clone is compared with thin"
      counted+=("$name")
      ;;
    *) misused "--builds: unknown build '$name'" ;;
  esac
  builds+=("$name")
done

"$repository/examples/setup.sh" --for=bench

# compile NAME FLAG...: the selected program's objects, in $folder/NAME; as many at once as there are processors.
compile() {
  local objects=$folder/$1 i
  shift
  rm -rf "$objects"
  mkdir -p "$objects"
  for i in "${!sources[@]}"; do
    printf '%s\0%s\0' "$tree/${sources[i]}" "$objects/$i.o"
  done | xargs -0 -n 2 -P "$(nproc)" bash -c '"${@:1:$#-2}" -c "${@: -2:1}" -o "${@: -1}"' compile "$clang" -O2 "$@" \
    "${compile_flags[@]}"
}

# link NAME OUTPUT FLAG...
link() { "$clang" -O2 "$folder/$1"/*.o "${@:3}" "${link_flags[@]}" -o "$folder/$2"; }

# train: the profile, and the shuffled one.
train() {
  compile instrumented "${instrument_flags[@]}"
  link instrumented instrumented.exe "${runtime_flags[@]}"
  rm -f "$folder"/raw.*
  HEARTH_OPTIONS=log_path=$folder/raw:recursion=full run_program "$training" "$folder/instrumented.exe"
  "$hearth" index -q --recursion=full "$folder"/raw.* -o "$folder/training.prof"
  "$hearth" merge -q --recursion=full --format=text "$folder/training.prof" -o "$folder/training.txt"
  python3 "$bench/benefit/shuffle.py" 1 <"$folder/training.txt" >"$folder/shuffled.txt"
  "$hearth" index -q --recursion=full "$folder/shuffled.txt" -o "$folder/shuffled.prof"
}

# flags_of BUILD: into $flags (compiling) and $libraries (linking).
flags_of() {
  local profile=$folder/training.prof
  flags=("${plain_flags[@]}") libraries=()
  [[ $1 != shuffled ]] || profile=$folder/shuffled.prof
  case $1 in
    plain) ;;
    adapter) split_flags libraries "$hearth" flags use "$profile" --link ;;
    thin)
      flags+=(-flto=thin)
      libraries=(-flto=thin "--ld-path=$(command -v "ld.lld-$llvm")")
      ;;
    clone)
      split_flags flags "$hearth" flags use "$profile" --lto=thin --compile
      split_flags libraries "$hearth" flags use "$profile" --lto=thin --link
      ;;
    *)
      split_flags flags "$hearth" flags use "$profile" --compile
      split_flags libraries "$hearth" flags use "$profile" --link
      [[ $1 != inline ]] || flags+=(-mllvm -memprof-contexts-by=inline)
      ;;
  esac
}

build_one() {
  local flags libraries
  flags_of "$1"
  if [[ $1 == adapter ]]; then
    link plain adapter.exe "${libraries[@]}"
  else
    compile "$1" "${flags[@]}"
    link "$1" "$1.exe" "${libraries[@]}"
  fi
}

# Granules of 16 bytes, the alignment of blocks.
count_flags=(-fmemory-profile -mllvm -memprof-mapping-granularity=16 -mllvm -memprof-mapping-scale=1)
build_counted() {
  local flags libraries
  flags_of "$1"
  compile "$1-counted" "${flags[@]}" "${count_flags[@]}"
  link "$1-counted" "$1-counted.exe" "$folder"/{counts,count}.o "${libraries[@]}"
  [[ $1 != plain ]] || link plain-counted oracle.exe "$folder"/{counts,oracle}.o
}

build_all() {
  local name
  for name in counts count oracle; do
    "$clang" -O2 -I "$repository/runtime/include" -c "$bench/benefit/$name.c" -o "$folder/$name.o"
  done
  "$clang" -O2 "$bench/benefit/watch.c" -o "$folder/watch"
  for name in "${builds[@]}"; do
    build_one "$name"
  done
  for name in "${counted[@]}"; do
    build_counted "$name"
  done
}

run_build() { # for `paired`
  local subject=$1
  shift
  run_program "$measured" "$@" "$folder/$subject.exe"
}

# observe: what needs one run each.
observe() {
  local name
  for name in "${builds[@]}"; do
    rm -f "$folder/$name.rest"
    run_program "$measured" "$folder/watch" "$folder/$name.rest" "$folder/$name.exe"
  done
}

# simulate NAME: "TLB LL INSTRUCTIONS" of all processes together.
simulate() {
  rm -f "$folder"/cachegrind.*
  # Without debug information: Debian 12's Valgrind cannot read what this clang writes.
  strip -o "$folder/stripped" "$folder/$1.exe"
  run_program "$simulated" valgrind --tool=cachegrind --cache-sim=yes --D1=262144,64,4096 \
    --cachegrind-out-file=/dev/null --log-file="$folder/cachegrind.%p" "$folder/stripped"
  awk '{ gsub(",", "") }
    / D1  misses:/ { tlb += $4; seen = 1 }
    / LLd misses:/ { last_level += $4 }
    / I +refs:/ { instructions += $4 }
    END { if (!seen) exit 1; print tlb, last_level, instructions }' "$folder"/cachegrind.* >"$folder/$1.simulated"
}

# count NAME: twice, as only the second run knows where its window begins.
count() {
  local run
  export COUNTS_TIMES=$folder/$1.times COUNTS_OUT=$folder/$1.counts
  rm -f "$COUNTS_TIMES" "$COUNTS_OUT"
  touch "$COUNTS_OUT"
  for run in 1 2; do
    run_program "$simulated" "$folder/$1.exe"
  done
}

# total FILE COLUMN: over all processes.
total() { awk -v n="$2" '{ sum += $n } END { print sum }' "$1"; }

code_kib() { size "$1" | awk 'NR == 2 { printf "%.0f", $1 / 1024 }'; }

# counts_of NAME: hot%, pages, cold, busy.
counts_of() {
  local file=$folder/$1-counted.counts
  if [[ -e $file ]]; then
    awk '{ all += $1; cold += $2; pages += $3; cold_pages += $4; busy += $5 }
      END { printf "%.2f %d %d %d\n", all ? 100 - cold * 100 / all : 100, pages, cold_pages, busy }' "$file"
  else
    echo - - - -
  fi
}

millions() { awk -v n="$1" 'BEGIN { printf "%.3f", n / 1e6 }'; }

row_format='%-9s %6s%6s%6s %6s%6s%6s%8s%8s%9s%8s%8s%6s%8s%8s%7s%7s\n'
print_row() {
  local base=plain tlb last_level instructions time cpu counts
  [[ $1 != clone ]] || base=thin
  read -ra time < <(ratios "$folder/runs" 1 "$1" "$base" | xargs printf '%.3f %.3f %.3f\n')
  read -ra cpu < <(ratios "$folder/runs" 2 "$1" "$base" | xargs printf '%.3f %.3f %.3f\n')
  read -r tlb last_level instructions <"$folder/$1.simulated"
  read -ra counts < <(counts_of "$1")
  # shellcheck disable=SC2059
  printf "$row_format" "$1" "${time[@]}" "${cpu[@]}" \
    "$(column "$folder/runs/$1.runs" 3 | median | awk '{ printf "%.1f", $1 / 1024 }')" \
    "$(sort -g "$folder/$1.rest" | awk 'END { printf "%.1f", $1 / 1024 }')" \
    "$(millions "$tlb")" "$(millions "$last_level")" "$(millions "$instructions" | cut -d. -f1)" \
    "$(code_kib "$folder/$1.exe")" "${counts[@]}"
}

print_table() {
  printf '\n'
  # shellcheck disable=SC2059
  printf "$row_format" "$program" time '' '' CPU '' '' peak rest TLB LL instr. KiB hot% pages cold busy
  local name
  for name in "${builds[@]}"; do
    print_row "$name"
  done
  # shellcheck disable=SC2059
  printf "$row_format" oracle '' '' '' '' '' '' '' '' '' '' '' '' '' "$(total "$folder/oracle.counts" 1)" '' \
    "$(total "$folder/oracle.counts" 2)"
  printf '\nof the profile:\n'
  # To its end: a reader that stops early would fail the command.
  "$hearth" show "$folder/training.prof" | awk '$1 == "class" { left = 5 } left > 0 { print; left-- }'
}

measure_program() {
  mkdir -p "$folder"
  split_flags instrument_flags "$hearth" flags instrument --compile
  without_plugin plain_flags "${instrument_flags[@]}"
  split_flags runtime_flags "$hearth" flags instrument --link
  step "$program: profiling" "$folder/train.log" train
  step "$program: building" "$folder/build.log" build_all
  say "$program: measuring"
  paired "$folder/runs" "$rounds" run_build "${builds[@]}"
  local name
  for name in "${builds[@]:1}"; do
    cmp "$folder/runs/plain.out" "$folder/runs/$name.out" || fail "plain and $name print different things"
  done
  step "$program: resident memory" "$folder/observe.log" observe
  for name in "${builds[@]}"; do
    step "$program: simulating $name" "$folder/simulate.log" simulate "$name"
  done
  for name in "${counted[@]/%/-counted}" oracle; do
    step "$program: counting accesses, $name" "$folder/count.log" count "$name"
  done
}

instrument_flags=() plain_flags=() runtime_flags=()
for program in "${programs[@]}"; do
  select_program "$program"
  folder=$work/benefit
  $table_only || measure_program
  print_table
done
