#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What malloc and free cost with the allocator linked, without hints and with, on one thread and on two, against
# the same program without the allocator; and, on one thread, with blocks of one size that are freed in several orders.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=lib.sh
source ./lib.sh

usage() {
  cat <<END
usage: test/bench/hinted.sh [--quick] [--rounds=N]
  --rounds=N  measured rounds (default 11)
  --quick     few operations, one round
END
}

rounds=11 operations=4000000
parse_arguments '--quick rounds=1 operations=100000' '--rounds=[1-9]*' -- "$@"

"$repository/examples/setup.sh" --for=bench
work=$build/bench/malloc
mkdir -p "$work"
source=$bench/hinted-pairs/hinted-pairs.c
build_pairs() { # NAME FLAG...: one build of the program
  step "building hinted-pairs: $1" "$work/build-$1.log" "$clang" -O2 -fno-builtin "$source" "${@:2}" -lpthread \
    -o "$work/$1"
}
build_pairs system
build_pairs allocator -DHINTED -I "$repository/runtime/include" "$build/lib/libhearth_malloc.a"

rows=$work/rows
: >"$rows"
for ((round = 0; round < rounds; round++)); do
  for threads in 1 2; do
    system=$("$work/system" plain "$threads" "$operations")
    for kind in plain cold pool hot; do
      echo "$kind $threads $system $("$work/allocator" "$kind" "$threads" "$operations")" >>"$rows"
    done
  done
done

# Of each subject the least: whatever else the machine does only adds. The spread is that of ratios within a round.
printf '%-12s%9s%14s%14s%9s%30s\n' "" threads "ns, system" "ns, allocator" ratio "in a round: least median most"
for kind in plain cold pool hot; do
  for threads in 1 2; do
    awk -v kind="$kind" -v threads="$threads" '$1 == kind && $2 == threads { print $4 / $3, $3, $4 }' "$rows" | sort -g |
      awk -v kind="$kind" -v threads="$threads" '
        { ratio[NR] = $1 }
        NR == 1 || $2 < system_ns { system_ns = $2 }
        NR == 1 || $3 < allocator_ns { allocator_ns = $3 }
        END {
          printf "%-12s%9d%14.1f%14.1f%9.3f%16.3f%7.3f%7.3f\n", kind == "plain" ? "no hint" : "hint " kind, threads,
            system_ns, allocator_ns, allocator_ns / system_ns, ratio[1], ratio[int((NR + 1) / 2)], ratio[NR]
        }'
  done
done

printf '\n%-12s%9s%9s%14s%14s%9s\n' "hint pool" order bytes "ns, system" "ns, allocator" ratio
for kind in pool realloc; do
  for order in once oldest random all; do
    for bytes in 16 24 64 256 1024; do
      for ((round = 0; round < rounds; round++)); do
        echo "$("$work/system" "$kind" 1 "$operations" "$order" "$bytes")" \
          "$("$work/allocator" "$kind" 1 "$operations" "$order" "$bytes")"
      done | awk -v kind="$kind" -v order="$order" -v bytes="$bytes" '
        NR == 1 || $1 < system_ns { system_ns = $1 }
        NR == 1 || $2 < allocator_ns { allocator_ns = $2 }
        END {
          printf "%-12s%9s%9d%14.1f%14.1f%9.3f\n", kind == "pool" ? "malloc" : kind, order, bytes, system_ns, allocator_ns,
            allocator_ns / system_ns
        }'
    done
  done
done
