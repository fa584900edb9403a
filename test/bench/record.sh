#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What recording a program as it is adds to its time, against heaptrack; what two threads get done; how large traces are.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=lib.sh
source ./lib.sh

usage() {
  cat <<END
usage: test/bench/record.sh [--quick] [--rounds=N] [WORKLOAD...]
  WORKLOAD    pairs (malloc and free alone, on one thread and on two), lua, gcc, python (default: all)
  --rounds=N  measured rounds (default 3)
  --quick     small inputs and one round
END
}

quick=false rounds=3 workloads=()
parse_arguments '--quick quick=true rounds=1' '--rounds=[1-9]*' 'workloads=pairs|lua|gcc|python' -- "$@"
((${#workloads[@]} > 0)) || workloads=(pairs lua gcc python)

"$repository/examples/setup.sh" --for=record
work=$build/bench/record
mkdir -p "$work"
size=1
! $quick || size=10

# What is run, by name; each does the same with any prefix.
cat >"$work/strings.lua" <<END
local rows, size = {}, 0
for i = 1, 200000 // $size do rows[i] = {name = "x" .. i, value = i} end
for round = 1, 5 do for i, row in ipairs(rows) do size = size + #(row.name .. "y" .. round) end end
print(size)
END
cat >"$work/rows.py" <<END
rows = 0
for _ in range(5):
    table = {}
    for i in range(60000 // $size):
        table[str(i)] = [i, (i, i + 1), str(i) * 3]
    rows += len(table)
print(rows)
END
{
  echo 'int printf(const char *format, ...);'
  for number in $(seq $((600 / size))); do
    printf 'int f%d(int x) { for (int i = 0; i < x; ++i) { x ^= i * %d; printf("%%d", x); } return x; }\n' \
      "$number" "$number"
  done
} >"$work/functions.c"
pairs=$((2000000 / size)) # heaptrack takes a second to start
step "building pairs" "$work/build.log" "$clang" -O2 -fno-builtin-malloc -Wl,--build-id pairs/pairs.c -lpthread -o "$work/pairs"
compiler=$(gcc -print-prog-name=cc1)

program_of() {
  case $1 in
    pairs1) echo "$work/pairs 1 $pairs" ;;
    pairs2) echo "$work/pairs 2 $pairs" ;;
    lua) echo "/usr/bin/lua5.4 $work/strings.lua" ;;
    gcc) echo "$compiler -quiet -O2 $work/functions.c -o $work/functions.s" ;;
    python) echo "env PYTHONMALLOC=malloc /usr/bin/python3 $work/rows.py" ;;
  esac
}

# record SUBJECT PREFIX...: one run of $workload.
record() {
  local subject=$1 command
  shift
  read -ra command < <(program_of "$workload")
  rm -f "$directory/$subject.raw"* "$directory/$subject.zst"
  if [[ ${command[0]} == env ]]; then
    export "${command[1]?}"
    command=("${command[@]:2}")
  fi
  case $subject in
    plain) "$@" "${command[@]}" ;;
    heaptrack) "$@" heaptrack -o "$directory/heaptrack" "${command[@]}" ;;
    aggregate) "$@" "$hearth" record -o "$directory/$subject.raw" -- "${command[@]}" ;;
    trace) "$@" "$hearth" record --mode=trace -o "$directory/$subject.raw" -- "${command[@]}" ;;
    sampled) "$@" "$hearth" record --sample=524288 -o "$directory/$subject.raw" -- "${command[@]}" ;;
  esac
}

# added SUBJECT COLUMN: what it adds to the plain time, or processor time, as a part of what heaptrack adds: least, median,
# greatest of the rounds. heaptrack's is that of its interpreter, too, which runs beside the program, on another processor.
added() {
  paste -d ' ' "$directory/plain.runs" "$directory/$1.runs" "$directory/heaptrack.runs" |
    awk -v at="$2" '{ print ($(at + 4) - $at) / ($(at + 8) - $at) }' | sort -g |
    awk '{ n[NR] = $1 } END { printf "%.2f %.2f %.2f\n", n[1], n[int((NR + 1) / 2)], n[NR] }'
}

measure() {
  workload=$1 directory=$work/$1
  say "measuring $workload, $rounds rounds"
  paired "$directory" "$rounds" record plain aggregate trace sampled heaptrack
  ratio_title "$workload"
  for subject in aggregate trace sampled heaptrack; do
    ratio_rows "$subject / plain" "$directory" "$subject" plain
  done
  for subject in aggregate trace; do
    printf '%-46s%42s\n' "$subject: time added / heaptrack's" "$(added $subject 1)"
    printf '%-46s%42s\n' "$subject: processor time added / heaptrack's" "$(added $subject 2)"
  done
  "$build/bin/trace_stat" "$directory/trace.raw" | grep '^events'
}

for name in "${workloads[@]}"; do
  if [[ $name == pairs ]]; then
    measure pairs1
    measure pairs2
    printf '\n%-46s\n' "two threads' throughput / one's (both do the same work each)"
    for subject in plain aggregate trace sampled heaptrack; do
      awk -v subject="$subject" -v one="$(column "$work/pairs1/$subject.runs" 1 | median)" \
        -v two="$(column "$work/pairs2/$subject.runs" 1 | median)" 'BEGIN { printf "  %-44s%10.2f\n", subject, 2 * one / two }'
    done
  else
    measure "$name"
  fi
done
