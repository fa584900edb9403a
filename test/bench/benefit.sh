#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What does a program gain? Real programs with large heaps, optimised with profiles of other and smaller inputs, beside the
# general allocators that a user could preload instead. Everything is printed, losses too.
# shellcheck disable=SC2034,SC2154  # what the programs' files read and set
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=lib.sh
source ./lib.sh

usage() {
  cat <<END
usage: test/bench/benefit.sh [--quick] [--rounds=N [--more]] [--only=STEP] [--subjects=NAME,...]
                             [--layouts[=NAME,...] [--simulate]] [--program-dir=DIR] [PROGRAM...]
  PROGRAM        a file of the folder, without .sh; default: all of them
  --program-dir  where the programs' files are (default: test/bench/benefit, whose README says what is in them)
  --rounds=N     measured rounds (default 5)
  --more         add them to those of the last run
  --only=STEP    build, measure, or print the table of what was measured
  --subjects     which of the subjects below, after plain; default: all
  --layouts      measure forced layouts instead, beside what the plan predicts for them: of none, cold, warm, calls and
                 groups all, or those named
  --simulate     count the layouts' misses instead of measuring their times: cachegrind with the caches and the translation
                 buffers of the cost model, on an input that is profiled, too. Nothing else disturbs these figures
  --quick        small inputs, one round: only checks that all works
Subjects, compiled by the same clang, files one by one:
  plain            without profile
  hearth           with the profile
  engine           plain, with Hearth's allocator for every block, without a profile
  hugetlb          plain, under GLIBC_TUNABLES=glibc.malloc.hugetlb=1
  mimalloc, jemalloc, tcmalloc
                   plain, with the distribution's library preloaded
Columns, all against plain but the last two:
  time   elapsed, of all processes together: least of all rounds, and the median ratio within a round
  CPU    processor time, least of all rounds
  peak   the greatest resident memory, median
  instr. instructions, counted by cachegrind on a small input
  p99    of the time from a request to its reply, in microseconds, median; servers only
  pred.  the time that the plan predicts
Columns of layouts, against the plain build:
  lines  predicted: touched in a window; simulated: misses of a second-level cache
  pages  predicted: touched in a window, in huge pages if pools are; simulated: misses of the first translation buffer
  time   predicted; simulated (instructions and misses, by the model's prices); measured, least of all rounds: elapsed, and
         without the system's part, which virtual machines make longer where their host has to supply memory
Below: rank correlations (Spearman) over all programs and layouts but none.
END
}

programs=() rounds=5 more=false only='' chosen='' subjects=() program_dir=$bench/benefit quick=false layouts='' simulate=false
parse_arguments '--quick quick=true rounds=1' '--rounds=[1-9]*' '--more more=true' '--only=build|measure|table' \
  '--subjects=?* chosen' '--layouts layouts=none,cold,warm,calls,groups' '--layouts=?*' --simulate '--program-dir=?* program_dir' \
  'programs=[a-z]*' -- "$@"
program_dir=$(realpath "$program_dir")
if ((${#programs[@]} == 0)); then
  mapfile -t programs < <(cd "$program_dir" && printf '%s\n' *.sh | sed 's/[.]sh$//')
fi
if $simulate && [[ ! $layouts ]]; then
  misused "--simulate is for --layouts"
fi

# The results of the two questions lie apart.
if [[ $layouts ]]; then
  results=layouts
  read -ra subjects <<<"${layouts//,/ }"
  subjects=(plain "${subjects[@]/#/layout-}")
else
  results=subjects
  chosen=plain,${chosen:-hearth,engine,hugetlb,mimalloc,jemalloc,tcmalloc}
  read -ra subjects <<<"${chosen//,/ }"
fi

# library NAME: its path, as the loader knows it.
library() { ldconfig -p | awk -v name="$1" '$1 == name && !seen++ { print $NF }'; }

# run_as SUBJECT: into $executable and $environment, how it is run.
run_as() {
  executable=$folder/plain.exe environment=()
  case $1 in
    plain) ;;
    hearth | layout-*) executable=$folder/$1.exe ;;
    engine) environment=("LD_PRELOAD=$build/lib/libhearth_malloc.so") ;;
    hugetlb) environment=(GLIBC_TUNABLES=glibc.malloc.hugetlb=1) ;;
    mimalloc) environment=("LD_PRELOAD=$(library libmimalloc.so.2)") ;;
    jemalloc) environment=("LD_PRELOAD=$(library libjemalloc.so.2)") ;;
    tcmalloc) environment=("LD_PRELOAD=$(library libtcmalloc_minimal.so.4)") ;;
    *) misused "unknown subject '$1'" ;;
  esac
}

# open_program NAME: what its file says, see benefit/README.md.
open_program() {
  program=$1 work=$build/bench/$(basename "$program_dir")/$1
  tree=$work/source package='' sources=() compile_flags=() link_flags=()
  mkdir -p "$work"
  unset -f list_sources
  unset simulated
  touched_mib=512
  # shellcheck source=/dev/null
  source "$program_dir/$1.sh"
  folder=$work/full latencies=/dev/null
  $quick && folder=$work/quick
  if $simulate; then
    folder=$folder-simulated training=${simulated:-$training}
  fi
  mkdir -p "$folder"
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
  compile plain "${plain_flags[@]}"
  link plain plain.exe
}

build_instrumented() {
  local flags
  compile instrumented "${instrument_flags[@]}"
  split_flags flags "$hearth" flags instrument --link
  link instrumented instrumented.exe "${flags[@]}"
}

# train: the raw profiles, which are indexed apart from it, so that a new planner needs no new run.
train() {
  rm -f "$folder"/raw.*
  HEARTH_OPTIONS=log_path=$folder/raw run_input "$training" "$folder/instrumented.exe"
  touch "$folder/trained"
}

index() {
  "$hearth" index -q "$folder"/raw.* -o "$folder/training.prof"
  "$hearth" show --plan --json "$folder/training.prof" >"$folder/plan.json"
}

# build_with PROFILE NAME
build_with() {
  local flags
  split_flags flags "$hearth" flags use "$1" --compile
  compile "$2" "${flags[@]}"
  split_flags flags "$hearth" flags use "$1" --link
  link "$2" "$2.exe" "${flags[@]}"
}

# force LAYOUT: the profile with a plan of that layout.
force() { "$hearth" plan -q "--layout=$1" "$folder/training.prof" -o "$folder/layout-$1.prof"; }

build_layout() {
  force "$1"
  build_with "$folder/layout-$1.prof" "layout-$1"
}

# build_if_old FILE 'INPUT...' COMMAND...: a step that makes the file, unless it is newer than its inputs.
build_if_old() {
  local file=$folder/$1 inputs
  read -ra inputs <<<"$2"
  is_current "$file" "${inputs[@]}" || step "$program: $1" "$folder/$1.log" "${@:3}"
}

build_program() {
  local own=$program_dir/$program.sh profile=$folder/training.prof engine=$build/lib/libhearth_malloc.a subject
  build_if_old plain.exe "$own" build_plain
  build_if_old instrumented.exe "$own $plugin $build/lib/libhearth_rt.so" build_instrumented
  build_if_old trained "$folder/instrumented.exe" train
  build_if_old training.prof "$folder/trained $hearth" index
  for subject in "${subjects[@]}"; do
    case $subject in
      hearth) build_if_old hearth.exe "$profile $plugin $engine" build_with "$profile" hearth ;;
      layout-*) build_if_old "$subject.exe" "$profile $plugin $engine" build_layout "${subject#layout-}" ;;
    esac
  done
}

run_subject() { # for `paired`
  local executable environment
  run_as "$1"
  latencies=$folder/$results/$1.latencies
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

# simulate FILE FLAG...: data misses of both levels of a cache, the model's caches or translation buffers, and instructions.
simulate() {
  local log=$1
  rm -f "$folder"/cachegrind.*
  run_input "$training" env "${environment[@]}" valgrind --tool=cachegrind --cache-sim=yes "${@:2}" \
    --cachegrind-out-file=/dev/null --log-file="$folder/cachegrind.%p" "$folder/stripped"
  awk '{ gsub(",", "") } / I +refs:/ { n += $4 } / D1 +misses:/ { a += $4 } / LLd misses:/ { b += $4 }
    END { if (!n) exit 1; print a, b, n }' "$folder"/cachegrind.* >"$log"
}

# has_huge_pages SUBJECT: pools of 8 MiB together have them; the program's own heap does not.
has_huge_pages() {
  [[ $1 == layout-* ]] && "$hearth" show --plan --json "$folder/$1.prof" |
    python3 -c 'import json, sys; sys.exit(sum(pool["memory"] for pool in json.load(sys.stdin)["pools"]) < 8 << 20)'
}

# simulate_subject SUBJECT: the caches and buffers of profile/plan/cost_model.c. Of huge pages, cachegrind's second buffer
# takes 1 GiB, which is more than there is.
simulate_subject() {
  local executable environment page=4096 buffers=("--D1=262144,64,4096" "--LL=6291456,12,4096")
  run_as "$1"
  strip -o "$folder/stripped" "$executable"
  if has_huge_pages "$1"; then
    page=2097152 buffers=("--D1=134217728,64,2097152" "--LL=1073741824,8,2097152")
  fi
  simulate "$folder/$1.caches" --D1=2097152,16,64 --LL=33554432,16,64
  simulate "$folder/$1.buffers" "${buffers[@]}"
  { cat "$folder/$1.caches" "$folder/$1.buffers" && echo "$page"; } >"$folder/$1.misses"
}

measure_program() {
  local runs=$folder/$results kept=$folder/$results.kept subject kind
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

instrument_flags=() plain_flags=() executable='' environment=()
if [[ ! $only || $only == build ]]; then
  "$repository/examples/setup.sh" --for=bench
  split_flags instrument_flags "$hearth" flags instrument --compile
  without_plugin plain_flags "${instrument_flags[@]}"
fi
folders=()
for program in "${programs[@]}"; do
  open_program "$program"
  if [[ ! $only || $only == build ]]; then
    prepare_program
    build_program
    for subject in "${subjects[@]}"; do
      run_as "$subject"
      if $simulate; then
        build_if_old "$subject.misses" "$executable" simulate_subject "$subject"
      else
        build_if_old "$subject.instructions" "$executable" count_instructions "$subject"
      fi
    done
  fi
  $simulate || [[ $only && $only != measure ]] || measure_program
  folders+=("$folder")
done
[[ $only == build ]] || $simulate || python3 "$bench/benefit/table.py" "$results" "${folders[@]}"
if [[ $layouts && $only != build ]]; then
  python3 "$bench/benefit/layouts.py" "${folders[@]}"
fi
