#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Which allocator should serve the ranges? The adapter's own pools, a jemalloc arena on extents of the range, and a mimalloc
# heap on an exclusive arena, measured alike (engines/engines.c); and the C library's malloc, which has no range.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=lib.sh
source ./lib.sh

usage() {
  cat <<END
usage: test/bench/engines.sh [--quick] [--rounds=N]
  --rounds=N  measured rounds (default 5)
  --quick     few operations, one round
Of the rounds the least time is printed, and the memory of the last. 'jemalloc, no cache' and 'jemalloc, usual cache' show
what a cache of the arena's own is for.
  ns/pair     processor time of a free and an allocation, on one thread and on each of two
  full, 1/10  resident bytes of the process for each byte in blocks: a million of them, and a random tenth
  written     per cent of freed blocks into which the engine wrote, for which their page has to be in memory
  empty       resident KiB of the range when all blocks are freed
  in, out     of a million requests: plain blocks that lay in the range, cold ones outside
  KiB         code of the library
END
}

rounds=5 operations=1000000
parse_arguments '--quick rounds=1 operations=100000' '--rounds=[1-9]*' -- "$@"

"$repository/examples/setup.sh" --for=bench
work=$build/bench/engines
mkdir -p "$work"
build_engine() { # NAME SOURCE FLAG...
  step "building engines: $1" "$work/build-$1.log" "$clang" -O2 -fno-builtin -I "$repository/runtime/include" \
    "$bench/engines/engines.c" "$bench/engines/$2" "${@:3}" -lpthread -o "$work/$1"
}
build_engine hearth hearth.c -L "$build/lib" -Wl,-rpath,"$build/lib" -lhearth_hotcold
build_engine jemalloc jemalloc.c -DCACHE=OWN -ljemalloc
build_engine jemalloc-none jemalloc.c -DCACHE=NONE -ljemalloc
build_engine jemalloc-usual jemalloc.c -DCACHE=AUTOMATIC -ljemalloc
build_engine mimalloc mimalloc.c -lmimalloc
build_engine glibc glibc.c
engines=(hearth jemalloc jemalloc-none jemalloc-usual mimalloc glibc)
titles=("Hearth's pools" 'jemalloc, arena and cache' 'jemalloc, no cache' 'jemalloc, usual cache' 'mimalloc, exclusive arena'
  'glibc')

rm -f "$work"/*.rows
for ((round = 0; round < rounds; round++)); do
  for engine in "${engines[@]}"; do
    "$work/$engine" "$operations" >>"$work/$engine.rows"
  done
done

# code_kib PROGRAM: of the library that it loads for its engine.
code_kib() {
  ldd "$1" | awk '/libhearth_hotcold|libjemalloc|libmimalloc/ { print $3 }' | xargs --no-run-if-empty size |
    awk 'NR == 2 { printf "%.0f", $1 / 1024 }'
}

row_format='%-28s%8s%8s%8s%8s%9s%8s%8s%8s%6s\n'
# shellcheck disable=SC2059
printf "$row_format" '' ns/pair '2 thr.' full 1/10 written empty in out KiB
for i in "${!engines[@]}"; do
  read -ra row < <(awk 'NR == 1 || $1 < one { one = $1 } NR == 1 || $2 < two { two = $2 }
    END { $1 = one; $2 = two; print }' "$work/${engines[i]}.rows")
  # shellcheck disable=SC2059
  printf "$row_format" "${titles[i]}" "${row[@]}" "$(code_kib "$work/${engines[i]}")"
done
