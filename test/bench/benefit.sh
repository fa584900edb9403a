#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What does a program gain? Real programs with large heaps, optimised with profiles of other and smaller inputs, beside the
# general allocators that a user could preload instead. Everything is printed, losses too.
# shellcheck disable=SC2034,SC2154  # what the programs' files read and set
set -euo pipefail
started_in=$PWD
cd "$(dirname "$0")"
# shellcheck source=lib.sh
source ./lib.sh

usage() {
  cat <<END
usage: test/bench/benefit.sh [--quick] [--rounds=N [--more]] [--only=STEP] [--subjects=NAME,...] [--program-dir=DIR]
                             [PROGRAM...]
  PROGRAM        a file of the folder, without .sh; default: all of them
  --program-dir  where the programs' files are (default: test/bench/benefit, whose README says what is in them)
  --rounds=N     measured rounds (default 5)
  --more         add them to those of the last run
  --only=STEP    build, measure, print the table of what was measured, or write that into docs/gains.tsv and, from there,
                 into the tables of the documents
  --subjects     which of the subjects below, after plain; default: all
  --quick        small inputs, one round: only checks that all works
Subjects, compiled by the same clang, files one by one:
  plain            without profile, by no flags but -O2 and the program's own
  engine           the same, linked with Hearth's allocator
  hearth           with the profile
  tuned            with the profile after 'hearth tune', on an input of its own
  hugetlb          plain, under GLIBC_TUNABLES=glibc.malloc.hugetlb=1
  mimalloc, jemalloc, tcmalloc
                   plain, with the distribution's library preloaded
and, with the profile, what each level of it adds to engine by itself:
  cold             cold blocks apart
  inline           the allocator's fast path in the program
  calls            cold blocks and each allocation call of weight apart; 'hearth tune' looks for a better choice
Columns, all against plain but the last:
  time   elapsed, of all processes together: least of all rounds, and the median ratio within a round
  CPU    processor time, least of all rounds
  peak   the greatest resident memory, median
  instr. instructions, counted by cachegrind on a small input
  p99    of the time from a request to its reply, in microseconds, median; servers only
END
}

programs=() rounds=5 more=false only='' chosen='' subjects=() program_dir=$bench/benefit quick=false
parse_arguments '--quick quick=true rounds=1' '--rounds=[1-9]*' '--more more=true' '--only=build|measure|table|documents' \
  '--subjects=?* chosen' '--program-dir=?* program_dir' 'programs=[a-z]*' -- "$@"
program_dir=$(cd "$started_in" && realpath "$program_dir")
if ((${#programs[@]} == 0)); then
  mapfile -t programs < <(cd "$program_dir" && printf '%s\n' *.sh | sed 's/[.]sh$//')
fi
chosen=plain,${chosen:-engine,cold,inline,calls,hearth,tuned,hugetlb,mimalloc,jemalloc,tcmalloc}
read -ra subjects <<<"${chosen//,/ }"

if $quick && [[ $only == documents ]]; then
  misused "documents need more than --quick"
fi

# run_as SUBJECT: into $executable and $environment, how it is run.
run_as() {
  executable=$folder/plain.exe
  allocator_environment "$1"
  case $1 in
    plain | hugetlb | mimalloc | jemalloc | tcmalloc) ;;
    engine | hearth | tuned) executable=$folder/$1.exe ;;
    cold) executable=$folder/called.exe ;;
    calls) executable=$folder/called.exe environment=(HEARTH_MALLOC=layout=calls) ;;
    inline) executable=$folder/hearth.exe environment=(HEARTH_MALLOC=cold=off) ;;
    *) misused "unknown subject '$1'" ;;
  esac
}

# run_input INPUT COMMAND...: the program's workload.
run_input() { (cd "$realworld" && workload "$@"); }

# compile NAME FLAG...: the program's objects, in $folder/NAME; as many at once as there are processors.
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

build_plain() {
  compile plain
  link plain plain.exe
}

build_engine() {
  local flags
  split_flags flags "$hearth" flags malloc
  link plain engine.exe "${flags[@]}"
}

build_instrumented() {
  local flags
  compile instrumented "${instrument_flags[@]}"
  split_flags flags "$hearth" flags instrument --link
  link instrumented instrumented.exe "${flags[@]}"
}

# train: the raw profiles, which are indexed apart from it, so that a new index needs no new run.
train() {
  rm -f "$folder"/raw.*
  HEARTH_OPTIONS=log_path=$folder/raw run_input "$training" "$folder/instrumented.exe"
  touch "$folder/trained"
}

index() { "$hearth" index -q "$folder"/raw.* -o "$folder/training.prof"; }

# build_with_profile NAME PROFILE FLAG...
build_with_profile() {
  local flags
  split_flags flags "$hearth" flags use "$folder/$2.prof" --compile
  compile "$1" "${flags[@]}" "${@:3}"
  split_flags flags "$hearth" flags use "$folder/$2.prof" --link
  link "$1" "$1.exe" "${flags[@]}"
}

# tune: a layout by measurements, each of which runs the workload.
tune() {
  if [[ $tuning ]]; then
    run_input "$tuning" "$hearth" tune "$folder/training.prof" -o "$folder/tuned.prof" -- "$folder/hearth.exe"
  else
    cp "$folder/training.prof" "$folder/tuned.prof"
  fi
}

# build_if_old FILE 'INPUT...' COMMAND...: a step that makes the file, unless it is newer than its inputs.
build_if_old() {
  local file=$folder/$1 inputs
  read -ra inputs <<<"$2"
  is_current "$file" "${inputs[@]}" || step "$program: $1" "$folder/$1.log" "${@:3}"
}

build_program() {
  local own=$program_dir/$program.sh profile=$folder/training.prof engine=$build/lib/libhearth_malloc.so
  build_if_old plain.exe "$own" build_plain
  build_if_old engine.exe "$folder/plain.exe $engine" build_engine
  build_if_old instrumented.exe "$own $plugin $build/lib/libhearth_rt.so" build_instrumented
  build_if_old trained "$folder/instrumented.exe" train
  build_if_old training.prof "$folder/trained $hearth" index
  build_if_old hearth.exe "$profile $plugin $engine" build_with_profile hearth training
  build_if_old called.exe "$profile $plugin $engine" build_with_profile called training "${no_fast_path[@]}"
  if [[ $chosen, == *,tuned,* ]]; then
    build_if_old tuned.prof "$folder/hearth.exe" tune
    build_if_old tuned.exe "$folder/tuned.prof" build_with_profile tuned tuned
  fi
}

run_subject() { # for `paired`
  local executable environment
  run_as "$1"
  latencies=$folder/subjects/$1.latencies
  export MEASURE_TOUCH=$touched_mib
  run_input "$measured" "${@:2}" env "${environment[@]}" "$executable"
}

# count_instructions SUBJECT: of all processes. Without debug information: Debian 12's Valgrind cannot read what this clang
# writes.
count_instructions() {
  local executable environment
  run_as "$1"
  rm -f "$folder"/cachegrind.*
  strip -o "$folder/stripped" "$executable"
  run_input "$counted" env "${environment[@]}" valgrind --tool=cachegrind --cache-sim=no \
    --cachegrind-out-file=/dev/null --log-file="$folder/cachegrind.%p" "$folder/stripped"
  awk '{ gsub(",", "") } / I +refs:/ { sum += $4 } END { if (!sum) exit 1; print sum }' "$folder"/cachegrind.* \
    >"$folder/$1.instructions"
}

measure_program() {
  local runs=$folder/subjects kept=$folder/subjects.kept subject kind
  rm -rf "$kept"
  if $more && [[ -d $runs ]]; then
    mv "$runs" "$kept"
  fi
  rm -rf "$runs"
  say "$program: measuring"
  paired "$runs" "$rounds" run_subject "${subjects[@]}"
  for subject in "${subjects[@]}"; do
    cmp "$runs/plain.out" "$runs/$subject.out" || fail "plain and $subject print different things"
    for kind in runs latencies; do
      [[ ! -e $kept/$subject.$kind ]] || cat "$kept/$subject.$kind" >>"$runs/$subject.$kind"
    done
  done
  {
    date -u +%F
    git -C "$repository" describe --always --dirty --exclude '*'
    lscpu | awk -F ': +' '$1 == "CPU(s)" { n = $2 } $1 == "Model name" { name = $2 } $1 ~ /^Hypervisor/ { virtual = "virtual " }
      END { printf "%d %sprocessors, %s\n", n, virtual, name }'
  } >"$runs/about"
}

prepare_program() {
  if [[ $package && ! -d $tree ]]; then
    # shellcheck source=../../examples/realworld/package.sh source-path=SCRIPTDIR
    source "$realworld/package.sh"
    fetch_once
  fi
  if declare -F list_sources >/dev/null; then
    mapfile -t sources < <(cd "$tree" && list_sources)
  fi
}

instrument_flags=() no_fast_path=(-mllvm -memprof-fast-path=0) executable='' environment=()
if [[ ! $only || $only == build ]]; then
  "$repository/examples/setup.sh" --for=bench
  split_flags instrument_flags "$hearth" flags instrument --compile
fi
folders=()
for program in "${programs[@]}"; do
  open_program "$program"
  if [[ ! $only || $only == build ]]; then
    prepare_program
    build_program
    for subject in "${subjects[@]}"; do
      run_as "$subject"
      build_if_old "$subject.instructions" "$executable" count_instructions "$subject"
    done
  fi
  [[ $only && $only != measure ]] || measure_program
  folders+=("$folder")
done
results=$build/bench/$(basename "$program_dir").tsv
[[ $only == build ]] || python3 "$bench/benefit/collect.py" "${folders[@]}" >"$results"
case $only in
  build) ;;
  documents)
    cp "$results" "$repository/docs/gains.tsv"
    python3 "$bench/benefit/table.py" --write "$repository/docs/gains.tsv" "$repository"/{README,docs/gains}.md
    ;;
  *) python3 "$bench/benefit/table.py" "$results" ;;
esac
