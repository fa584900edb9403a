#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What one malloc and free cost with profiling, ten calls deep, on one thread and on two: our runtime, LLVM's, none.
# shellcheck disable=SC2034  # what the programs' files read
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=lib.sh
source ./lib.sh

usage() {
  cat <<END
usage: test/bench/runtime-alloc.sh [--quick] [--rounds=N]
  --rounds=N  measured rounds (default 5)
  --quick     few pairs, one round
END
}

quick=false rounds=5 pairs=4000000
parse_arguments '--quick quick=true rounds=1 pairs=200000' '--rounds=[1-9]*' -- "$@"

"$repository/examples/setup.sh" --for=bench
select_program pairs
for variant in plain hearth llvm; do
  build_variant "$variant"
done

rows=$work/rows
: >"$rows"
for ((round = 0; round < rounds; round++)); do
  for threads in 1 2; do
    for variant in plain hearth llvm; do
      rm -f "$work"/raw.*
      figures=$(HEARTH_OPTIONS=log_path=$work/raw MEMPROF_OPTIONS=log_path=$work/raw \
        run_program "$threads $pairs" "$work/$variant")
      echo "$threads $variant $figures" >>"$rows"
    done
  done
done

# Of each build the least: whatever else the machine does only adds.
awk '
  !(($1, $2) in cpu) || $3 < cpu[$1, $2] { cpu[$1, $2] = $3 }
  !(($1, $2) in wall) || $4 < wall[$1, $2] { wall[$1, $2] = $4 }
  END {
    printf "%-8s%22s%22s%24s%26s\n", "", "ns a pair, 1 thread", "added, 1 thread", "ns a pair, 2 threads", "throughput of 2 over 1"
    split("plain hearth llvm", variants, " ")
    for (i = 1; i <= 3; i++) {
      v = variants[i]
      printf "%-8s%22.1f%22.1f%24.1f%26.2f\n", v, cpu[1, v], cpu[1, v] - cpu[1, "plain"], cpu[2, v], wall[1, v] / wall[2, v]
    }
  }' "$rows"
