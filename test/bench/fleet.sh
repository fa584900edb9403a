#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Merging a fleet's raw profiles: time and memory by their number, the engines of examples/fleet with a worker that is killed,
# and llvm-profdata merge on the same runs in LLVM's layout.
# shellcheck disable=SC2034,SC2154  # what the programs' files read and set
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=lib.sh
source ./lib.sh

usage() {
  cat <<END
usage: test/bench/fleet.sh [--quick] [--rounds=N] [--profiles=N] [--compared=N] [--engine=NAME]... [PART...]
  PART          compare  each program's profiles against llvm-profdata; merge  all of them, by their number;
                engines  the same by each engine that is installed; default: all three
  --profiles=N  of the fleet (default 10000): jq, ninja, sqlite and three builds of lua, 1 % of them damaged
  --compared=N  of each program that llvm-profdata merges, too (default 300)
  --engine=NAME  make, ninja, parallel (GNU), slurm (needs root), sort (MapReduce's contract); default: all
  --rounds=N    measured rounds (default 5)
  --quick       600 profiles, 20 compared, one round
Columns: seconds, processor seconds and peak memory of the largest process, the least of the rounds.
END
}

quick=false rounds=5 profiles=10000 compared=300 parts=() engines=()
parse_arguments '--quick quick=true rounds=1 profiles=600 compared=20' '--rounds=[1-9]*' '--profiles=[1-9]*' \
  '--compared=[1-9]*' '--engine=make|ninja|parallel|slurm|sort engines' 'parts=compare|merge|engines' -- "$@"
((${#parts[@]} > 0)) || parts=(compare merge engines)
((${#engines[@]} > 0)) || engines=(make ninja parallel slurm sort)

"$repository/examples/setup.sh" --for=bench
fleet=$build/bench/fleet

# spread LEAST MOST NUMBER: a size for the input of this number. Small ones are frequent, as in a fleet.
spread() { awk -v a="$1" -v b="$2" -v n="$3" 'BEGIN { srand(n); rand(); printf "%d", a * exp(log(b / a) * rand()) }'; }

# input_of NUMBER: what the selected program calls an input.
input_of() {
  case $program in
    jq) echo "$(spread 10 800 "$1") $1" ;;
    ninja) echo "$(spread 5 400 "$1") $1" ;;
    sqlite) echo "$(spread 10 400 "$1") $1" ;;
    lua) echo "$(spread 4 9 "$1") $(spread 50 4000 "$1") $(spread 50 4000 "$1$1")" ;;
  esac
}

# record BINARY LAYOUT COUNT TO: COUNT profiles of runs of the selected program, as TO/NUMBER.PID, NUMBER of the input.
record() {
  local binary=$1 layout=$2 count=$3 to=$4 number=0 made=() work=$fleet/inputs # where the workload has its inputs
  rm -rf "$to.new"
  while ((${#made[@]} < count)); do
    number=$((number + 1))
    mkdir -p "$work" "$to.new"
    HEARTH_OPTIONS=format=$layout:log_path=$to.new/$(printf %05d "$number") run_program "$(input_of "$number")" "$binary" \
      >/dev/null
    rm -rf "$work"
    made=("$to.new"/*)
  done
  rm -f "${made[@]:count}"
  mv "$to.new" "$to"
}

# recorded NAME BINARY LAYOUT COUNT: the folder $fleet/NAME has that many of this binary's profiles.
recorded() {
  if [[ ! -d $fleet/$1 || $2 -nt $fleet/$1 || $(find "$fleet/$1" -type f | wc -l) != "$4" ]]; then
    rm -rf "${fleet:?}/$1"
    step "profiling $program $4 times: $1" "$fleet/$1.log" record "$2" "$3" "$4" "$fleet/$1"
  fi
}

# least DIR SUBJECT COLUMN: of the rounds.
least() { column "$1/$2.runs" "$3" | sort -g | head -n 1; }

# ------------------------------------------------- llvm-profdata -------------------------------------------------

# convert SUBJECT PREFIX...
convert() {
  case $1 in
    ours) "${@:2}" "$hearth" merge -q "$fleet/$program-ours"/* -o "$directory/ours.heap" ;;
    profdata)
      "${@:2}" "llvm-profdata-$llvm" merge "$fleet/$program-llvm"/* --profiled-binary "$work/hearth" -o "$directory/profdata"
      ;;
  esac
}

# A run has few contexts and times of its own, so that two of one input make the same profile but for measured times.
compare() {
  local title='%-8s%10s%26s%26s%12s%10s\n'
  for program in jq ninja sqlite; do
    select_program "$program"
    build_variant hearth
    directory=$fleet/compare-$program
    recorded "$program-ours" "$work/hearth" hearth "$compared"
    recorded "$program-llvm" "$work/hearth" llvm "$compared"
    say "merging $compared profiles of $program, $rounds rounds"
    paired "$directory" "$rounds" convert profdata ours
  done
  # shellcheck disable=SC2059  # one format for the title and its rows
  printf "\n$title" '' profiles llvm-profdata "hearth merge" 'times' 'memory'
  for program in jq ninja sqlite; do
    directory=$fleet/compare-$program
    awk -v format="$title" -v name="$program" -v n="$compared" -v a="$(least "$directory" profdata 2)" \
      -v b="$(least "$directory" ours 2)" -v am="$(least "$directory" profdata 3)" -v bm="$(least "$directory" ours 3)" \
      'BEGIN { printf format, name, n, sprintf("%.3f s, %.1f MiB", a, am / 1024), sprintf("%.4f s, %.1f MiB", b, bm / 1024),
        sprintf("%.1f", a / b), sprintf("1/%.1f", am / bm) }'
  done
}

# ---------------------------------------------------- the fleet ----------------------------------------------------

# damage FILE NUMBER: flip a bit in it, or cut it, by turns.
damage() {
  local size
  size=$(stat -c %s "$1")
  if (($2 % 2)); then
    truncate -s "$((size / 2))" "$1"
  else
    local at=$((size * 2 / 3)) byte
    byte=$(od -An -tu1 -j "$at" -N 1 "$1")
    # shellcheck disable=SC2059
    printf "\\x$(printf %x "$((byte ^ 1 << $2 / 2 % 8))")" | dd of="$1" bs=1 seek="$at" conv=notrunc status=none
  fi
}

# gather: the fleet's profiles, of which each hundredth is damaged, as the list $fleet/all.
gather() {
  local share=$((profiles / 10)) level number=0 file
  while read -r program level count; do
    select_program "$program"
    compile_flags+=("-O$level")
    work=$work/O$level
    mkdir -p "$work"
    build_variant hearth
    recorded "fleet-$program-O$level" "$work/hearth" hearth "$count"
  done <<END
jq 2 $((share * 3))
ninja 2 $((share * 2))
sqlite 2 $((share * 2))
lua 1 $share
lua 2 $share
lua 3 $((profiles - share * 9))
END
  rm -rf "$fleet/damaged"
  mkdir -p "$fleet/damaged"
  # In the order of the inputs' numbers: programs and builds are mixed.
  find "$fleet"/fleet-*-O? -type f | sort -t / -k "$(awk -F / '{ print NF + 2 }' <<<"$fleet")" >"$fleet/all.new"
  while read -r file; do
    number=$((number + 1))
    if ((number % 100 == 0)); then
      cp "$file" "$fleet/damaged/$number"
      file=$fleet/damaged/$number
      damage "$file" "$((number / 100))"
    fi
    echo "$file"
  done <"$fleet/all.new" >"$fleet/all"
  say "$profiles profiles, $(tr '\n' '\0' <"$fleet/all" | du -cb --files0-from=- | tail -n 1 | cut -f1) bytes"
}

# merge COUNT PREFIX...
merge() {
  awk -v step="$((profiles / $1))" '(NR - 1) % step == 0' "$fleet/all" >"$directory/list" # of all programs
  "${@:2}" "$hearth" merge -q --failure-mode=all -f "$directory/list" -o "$directory/$1.heap"
}

merge_all() {
  local subjects=(10 "$((profiles / 10))" "$profiles") subject contexts
  directory=$fleet/merge
  mkdir -p "$directory"
  say "merging, $rounds rounds"
  paired "$directory" "$rounds" merge "${subjects[@]}"
  ln -sf "$profiles.heap" "$directory/whole.heap"
  printf '\n%-16s%10s%12s%12s%14s\n' inputs seconds processor 'peak (MiB)' 'profiles/s'
  for subject in "${subjects[@]}"; do
    awk -v n="$subject" -v s="$(least "$directory" "$subject" 1)" -v cpu="$(least "$directory" "$subject" 2)" \
      -v kib="$(least "$directory" "$subject" 3)" \
      'BEGIN { printf "%-16s%10.3f%12.3f%12.1f%14.0f\n", n, s, cpu, kib / 1024, n / s }'
  done
  contexts=$(python3 -c 'import struct, sys
print(sum(struct.unpack_from("<Q", open(name.rstrip("\n"), "rb").read(72), 64)[0] for name in sys.stdin))' <"$fleet/all")
  say "$contexts contexts in the raw profiles"
  "$hearth" show --top=1 "$directory/whole.heap" | sed -n 1,3p # all of it is read
}

# ----------------------------------------------------- engines -----------------------------------------------------

# by_sort OUT: MapReduce's contract. A mapper's output counts when it is whole.
by_sort() {
  local scripts=$repository/examples/fleet/mapreduce
  mkdir -p sort
  [[ -e sort/list.00 ]] || split -d -n r/16 "$fleet/all" sort/list.
  # shellcheck disable=SC2016  # of the inner shell
  printf '%s\n' sort/list.?? | xargs -P "$(nproc)" -I '{}' sh -c \
    '[ -e "$1.records" ] || { "$0" <"$1" >"$1.new" && mv "$1.new" "$1.records"; }' "$scripts/mapper.sh" '{}' || return 1
  sort sort/list.??.records | "$scripts/reducer.sh" | "$scripts/collect.sh" "$1"
}

# by ENGINE: the profile of all, as ENGINE.heap, by the tool that $HEARTH names.
by() {
  local scripts=$repository/examples/fleet
  case $1 in
    sort) by_sort "$1.heap" ;;
    slurm) "$scripts/slurm-here.sh" "$directory/daemons" "$scripts/with-slurm.sh" "$1" "$1.heap" --wait --partition=short ;;
    *) "$scripts/with-$1.sh" "$1" "$1.heap" ;;
  esac <"$fleet/all"
}

# merge_once: what engines are to make, if `merge_all` has not run.
merge_once() {
  local directory=$fleet/merge
  mkdir -p "$directory"
  merge "$profiles"
  ln -sf "$profiles.heap" "$directory/whole.heap"
}

# The time of a merge by each engine; then that of one whose worker is killed, and of the same again, which does the rest.
merge_by_engines() {
  local engine start killed restarted end needs
  directory=$fleet/engines
  rm -rf "$directory"
  mkdir -p "$directory"
  [[ $fleet/merge/whole.heap -nt $fleet/all ]] || merge_once
  cd "$directory"
  # The first merge is killed while it reads, and with it the script that started it.
  cat >killed-once <<END
#!/bin/sh
if mkdir "$directory/killed" 2>/dev/null; then
  "$hearth" "\$@" &
  sleep 0.03
  kill -9 \$!
  kill -9 \$\$
fi
exec "$hearth" "\$@"
END
  chmod +x killed-once
  printf '\n%-10s%12s%44s\n' engine seconds 'a worker killed: to its end, the rest'
  for engine in "${engines[@]}"; do
    needs=${engine/slurm/sbatch}
    command -v "$needs" >/dev/null || { say "$engine is not installed" && continue; }
    start=$EPOCHREALTIME
    HEARTH=$hearth attempt by "$engine" >"$engine.log" 2>&1
    end=$EPOCHREALTIME
    ((status == 0)) || fail "$engine failed: $directory/$engine.log"
    cmp "$fleet/merge/whole.heap" "$engine.heap" || fail "the profile by $engine differs"
    rm -rf "${directory:?}/$engine" "$engine.heap" killed
    killed=$EPOCHREALTIME
    HEARTH=$directory/killed-once attempt by "$engine" >"$engine.killed.log" 2>&1
    [[ -e killed && ! -e $engine.heap ]] || fail "$engine made a profile though a worker was killed"
    restarted=$EPOCHREALTIME
    HEARTH=$directory/killed-once attempt by "$engine" >"$engine.restarted.log" 2>&1
    ((status == 0)) || fail "$engine failed when started again: $directory/$engine.restarted.log"
    cmp "$fleet/merge/whole.heap" "$engine.heap" || fail "the profile by $engine differs after a restart"
    awk -v name="$engine" -v a="$start" -v b="$end" -v c="$killed" -v d="$restarted" -v e="$EPOCHREALTIME" \
      'BEGIN { printf "%-10s%12.1f%37.1f, %.1f\n", name, b - a, d - c, e - d }'
  done
}

[[ " ${parts[*]} " != *" compare "* ]] || compare
[[ " ${parts[*]} " != *" merge "* && " ${parts[*]} " != *" engines "* ]] || gather
[[ " ${parts[*]} " != *" merge "* ]] || merge_all
[[ " ${parts[*]} " != *" engines "* ]] || merge_by_engines
