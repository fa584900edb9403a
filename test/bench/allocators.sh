#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Programs under Hearth's allocator, without any profile, beside the C library's, mimalloc, jemalloc and tcmalloc: processor time
# and peak memory.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=lib.sh
source ./lib.sh

usage() {
  cat <<END
usage: test/bench/allocators.sh [--quick] [--rounds=N] [COMMAND...]
  COMMAND     each one argument, run by the shell ("lua bench.lua"); default: binary trees, containers of strings
  --rounds=N  measured rounds (default 5); of each the least counts
  --quick     small inputs, one round
END
}

rounds=5 quick=false commands=()
parse_arguments '--quick quick=true rounds=1' '--rounds=[1-9]*' 'commands=*' -- "$@"

"$repository/examples/setup.sh" --for=bench
work=$build/bench/allocators
mkdir -p "$work"
declare -A preloaded=([plain]='' [hearth]=$build/lib/libhearth_malloc.so [mimalloc]=$(library libmimalloc.so.2)
  [jemalloc]=$(library libjemalloc.so.2) [tcmalloc]=$(library libtcmalloc_minimal.so.4))
subjects=(plain hearth mimalloc jemalloc tcmalloc)

if ((${#commands[@]} == 0)); then
  step "building trees" "$work/trees.log" "$clang" -O2 -fno-builtin "$bench/allocators/trees.c" -o "$work/trees"
  step "building containers" "$work/containers.log" "${clang/clang/clang++}" -O2 -fno-builtin \
    "$bench/allocators/containers.cpp" -o "$work/containers"
  depth=19 count=100000 repeats=5
  $quick && depth=10 count=1000 repeats=1
  commands=("$work/trees $depth")
  for kind in map map-of-text set unordered_map list deque vector shared_ptr; do
    for length in 12 20 28 36 44 60 100; do
      commands+=("$work/containers $kind $length $count $repeats")
    done
  done
fi

command=''
run_subject() { # for `paired`
  local subject=$1
  shift
  LD_PRELOAD=${preloaded[$subject]} "$@" bash -c "exec $command"
}

printf '%-44s' ""
printf '%18s' "${subjects[@]}"
printf '%12s%12s\n' "to plain" "to best"
rows=$work/rows
: >"$rows"
for command in "${commands[@]}"; do
  paired "$work/runs" "$rounds" run_subject "${subjects[@]}"
  row=''
  for subject in "${subjects[@]}"; do
    cmp -s "$work/runs/plain.out" "$work/runs/$subject.out" || fail "$command prints other things under $subject"
    row+=" $(sort -g -k2 "$work/runs/$subject.runs" | awk 'NR == 1 { time = $2 } $3 > kib { kib = $3 } END { print time, kib / 1024 }')"
  done
  echo "$row" >>"$rows"
  awk -v label="${command##*/}" '{
    best = $5; for (i = 7; i <= 9; i += 2) if ($i < best) best = $i
    printf "%-44s", label
    for (i = 1; i <= 9; i += 2) printf "%9.2f s %4d MiB", $i, $(i + 1)
    printf "%10.2f%12.2f\n", $3 / $1, $3 / best
  }' <<<"$row"
done
awk '{
  best = $5; for (i = 7; i <= 9; i += 2) if ($i < best) best = $i
  plain += log($3 / $1); other += log($3 / best); memory += log($4 / $6); n++
} END { printf "geometric means: %.3f of plain, %.3f of the best other one; memory %.3f of mimalloc\n",
  exp(plain / n), exp(other / n), exp(memory / n) }' "$rows"
