#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# How fast are programs that follow pointers, with Hearth's allocator for all blocks, or with all in one pool by hints, against
# general allocators?
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=lib.sh
source ./lib.sh

usage() {
  cat <<END
usage: test/bench/pointers.sh [--quick] [--rounds=N]
  --rounds=N  rounds (default 5), each with all allocators
  --quick     one round
Of the rounds the least: seconds of processor time, those for building the heap, and MiB of peak memory; and the time's
ratio to glibc's. 'huge pages' is glibc with glibc.malloc.hugetlb=1.
END
}

rounds=5
parse_arguments '--quick rounds=1' '--rounds=[1-9]*' -- "$@"

"$repository/examples/setup.sh" --for=bench
work=$build/bench/pointers
mkdir -p "$work"
build_pointers() { # NAME FLAG...
  step "building pointers: $1" "$work/build-$1.log" "$clang" -O2 -fno-builtin "$bench/pointers/pointers.c" "${@:2}" \
    -o "$work/$1"
}
build_pointers plain
build_pointers hearth -DHINTED -I "$repository/runtime/include" "$build/lib/libhearth_malloc.a"

run() { # SUBJECT PROGRAM
  case $1 in
    engine) LD_PRELOAD=$build/lib/libhearth_malloc.so "$work/plain" "$2" ;;
    hearth) "$work/hearth" "$2" ;;
    glibc) "$work/plain" "$2" ;;
    'huge pages') GLIBC_TUNABLES=glibc.malloc.hugetlb=1 "$work/plain" "$2" ;;
    *) LD_PRELOAD=lib$1.so "$work/plain" "$2" ;;
  esac
}

subjects=(engine hearth glibc 'huge pages' mimalloc jemalloc)
programs=(tree quarters lists)
rm -f "$work"/*.rows
for ((round = 0; round < rounds; round++)); do
  for program in "${programs[@]}"; do
    for subject in "${subjects[@]}"; do
      run "$subject" "$program" >/dev/null # a virtual machine's host may have taken the free pages, huge ones above all
      run "$subject" "$program" >>"$work/$program-$subject.rows"
    done
  done
done

row_format='%-10s%-12s%9s%9s%9s%9s\n'
# shellcheck disable=SC2059
printf "$row_format" '' '' 'time, s' building 'to glibc' MiB
for program in "${programs[@]}"; do
  base=$(column "$work/$program-glibc.rows" 1 | sort -g | head -n 1)
  for subject in "${subjects[@]}"; do
    read -ra row < <(sort -g "$work/$program-$subject.rows" | head -n 1)
    ratio=$(awk -v a="${row[0]}" -v b="$base" 'BEGIN { printf "%.2f", a / b }')
    # shellcheck disable=SC2059
    printf "$row_format" "$program" "$subject" "${row[0]}" "${row[1]}" "$ratio" "${row[2]}"
  done
done
