#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What does a heap cost in memory after many shifts of sizes, lifetimes and pools? The allocator's pools against other allocators.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=lib.sh
source ./lib.sh

usage() {
  cat <<END
usage: test/bench/churn.sh [--quick] [--operations=N] [--mib=N]
  --operations=N  allocations and frees (default 100,000,000)
  --mib=N         most bytes in blocks (default 64)
  --quick         a million operations
Resident bytes for each byte in blocks:
  peak   greatest of both
  mean   geometric mean over the samples of all phases but the first; worst: the greatest of them
  last   at the end, with as many bytes as in the first phase
  ns     processor time of an operation
'one pool' has all blocks in one pool; 'heaps' is mimalloc with a heap for each pool.
END
}

operations=100000000 mib=64
parse_arguments '--quick operations=1000000' '--operations=[1-9]*' '--mib=[1-9]*' -- "$@"

"$repository/examples/setup.sh" --for=bench
work=$build/bench/churn
mkdir -p "$work"
build_churn() { # NAME FLAG...
  step "building churn: $1" "$work/build-$1.log" "$clang" -O2 -fno-builtin "$bench/churn/churn.c" "${@:2}" -lpthread -lm \
    -o "$work/$1"
}
build_churn plain
build_churn heaps -DHEAPS -lmimalloc
build_churn hearth -DHINTED -I "$repository/runtime/include" "$build/lib/libhearth_malloc.a"

row_format='%-22s%8s%8s%8s%8s%8s%8s\n'
# shellcheck disable=SC2059
printf "$row_format" '' threads peak mean worst last ns
row() { # NAME THREADS COMMAND...
  local figures
  read -ra figures < <("${@:3}" "$mib" "$operations" "$2")
  # shellcheck disable=SC2059
  printf "$row_format" "$1" "$2" "${figures[@]}"
}
for threads in 1 2; do
  row "Hearth's pools" "$threads" "$work/hearth"
  row 'Hearth, one pool' "$threads" env HEARTH_MALLOC=layout=1111111111111111111111111111111 "$work/hearth"
  row 'glibc' "$threads" "$work/plain"
  row 'mimalloc' "$threads" env LD_PRELOAD=libmimalloc.so.2 "$work/plain"
  row 'mimalloc, heaps' "$threads" "$work/heaps"
  row 'jemalloc' "$threads" env LD_PRELOAD=libjemalloc.so.2 "$work/plain"
done
