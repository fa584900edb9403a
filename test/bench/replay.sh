#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# How much memory do allocators take under the operations of real programs? Traces of redis-server under a mixed load and of
# gcc's compiler on a large file, replayed.
# shellcheck disable=SC2034,SC2154  # what the programs' files read and set
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=lib.sh
source ./lib.sh

usage() {
  cat <<END
usage: test/bench/replay.sh [--quick] [--repeats=N] [TRACE...]
  TRACE        redis or gcc; default: both
  --repeats=N  how often a trace is replayed in one process (default 10)
  --quick      small inputs
Columns:
  first     peak resident memory of the first replay, to the bytes live at the peak
  last      that of the last one; the greatest of all
  mean      mean resident memory of all replays, to the same bytes
  mimalloc  the first, the last and the mean, to mimalloc's
  ns        an operation of the fastest replay
END
}

traces=() repeats=10 quick=false
parse_arguments '--quick quick=true' '--repeats=[1-9]*' 'traces=redis|gcc' -- "$@"
((${#traces[@]} > 0)) || traces=(redis gcc)

"$repository/examples/setup.sh" --for=bench
folder=$build/bench/replay
mkdir -p "$folder"

record() {
  "$hearth" record -q --mode=trace -o "$folder/$trace.trace" -- "$@"
}

# record_redis: under the load of benefit.sh.
record_redis() {
  select_program redis
  build_variant plain
  workload "$($quick && echo "5000 50000 1" || echo "$training")" record "$work/plain"
}

# record_gcc: without the driver, which runs the compiler as another program.
record_gcc() {
  local source=$folder/input.i
  if $quick; then
    echo '#include <stdio.h>
      #include <math.h>
      int main(void) { return printf("%f", sin(1)) < 0; }' | gcc -E -x c - -o "$source"
  else
    select_program sqlite
    gcc -E "$tree/sqlite3.c" -o "$source"
  fi
  record "$(gcc -print-prog-name=cc1)" -quiet -O2 -fpreprocessed "$source" -o /dev/null
}

# replay NAME PRELOADED
replay() {
  LD_PRELOAD=$2 "$build/bin/replay" --touch --repeat="$repeats" "$folder/$trace.trace" >"$folder/$trace.$1"
}

# figures NAME: first, last and greatest peak and the mean to live bytes, and nanoseconds.
figures() {
  awk '/^peak live/ { live = substr($5, 2) } /^time/ { if (!ns || $4 < ns) ns = $4 }
    /^peak resident/ { last = substr($5, 2) / live; first = first ? first : last; most = last > most ? last : most }
    /^mean resident/ { sum += substr($5, 2) / live; n++ }
    END { print first, last, most, sum / n, ns }' "$folder/$trace.$1"
}

# row NAME
row() {
  local first last most mean ns base_first base_last base_mean
  read -r first last most mean ns < <(figures "$1")
  read -r base_first base_last _ base_mean _ < <(figures mimalloc)
  awk -v name="$1" -v first="$first" -v last="$last" -v most="$most" -v mean="$mean" -v ns="$ns" \
    -v base_first="$base_first" -v base_last="$base_last" -v base_mean="$base_mean" 'BEGIN {
      printf "%-16s%9.3f%9.3f%9.3f%9.3f%10.3f%9.3f%9.3f%8.1f\n", name, first, last, most, mean, first / base_first,
        last / base_last, mean / base_mean, ns }'
}

replay_all() {
  replay mimalloc "$(library libmimalloc.so.2)"
  replay jemalloc "$(library libjemalloc.so.2)"
  replay glibc ''
  replay hearth "$build/lib/libhearth_malloc.so"
}

for trace in "${traces[@]}"; do
  is_current "$folder/$trace.trace" || step "recording $trace" "$folder/$trace-trace.log" "record_$trace"
  step "replaying $trace" "$folder/$trace.replay.log" replay_all
  printf '\n%-16s%9s%9s%9s%9s%10s%9s%9s%8s\n' "$trace" first last greatest mean mimalloc last mean ns
  for name in glibc mimalloc jemalloc hearth; do
    row "$name"
  done
done
