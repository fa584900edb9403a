#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Does what the profile calls cold lie idle, and does it leave memory? The programs of benefit.sh, beside reclaim without a profile.
# shellcheck disable=SC2034,SC2154  # what the programs' files read and set
set -euo pipefail
started_in=$PWD
cd "$(dirname "$0")"
# shellcheck source=lib.sh
source ./lib.sh

usage() {
  cat <<END
usage: test/bench/idle.sh [--quick] [--times] [--swap=MIB] [--cost=PERCENT] [--program-dir=DIR] [PROGRAM...]
  PROGRAM     as for benefit.sh; servers whose clients end them, too
  --swap=MIB  a swap file of this size while the programs run (root): reclaim needs swap space, and cold=auto then uses it
  --cost=PERCENT  of the time, that absent memory may cost, or off (HEARTH_MALLOC, default 1)
  --times     also the time of each, to keep's: on an idle machine
  --quick     small inputs
Memory in MiB. Subjects: plain; and with the profile, looking once a second:
  keep     cold memory stays
  file     HEARTH_MALLOC=cold=file
  auto     HEARTH_MALLOC=cold=auto
  reclaim  plain; the system takes what was not used of late, as far as little comes back (TMO)
Columns:
  cold     most at once, by the profile
  idle     per cent of the bytes of all cold blocks that nobody touched in the last halves of their lives, by 50 looks at all
           pages, in a run in which no page is used again for another block
  peak, mean  in memory; by processor time
  again    pages read again
END
}

programs=() program_dir=$bench/benefit quick=false times=false swap=0 cost=1
parse_arguments '--quick quick=true' '--times times=true' '--swap=[1-9]* swap' '--cost=[1-9o]* cost' '--program-dir=?* program_dir' \
  'programs=[a-z]*' -- "$@"
program_dir=$(cd "$started_in" && realpath "$program_dir")
((${#programs[@]} > 0)) || programs=(gawk cadical ninja redis)
options=("--program-dir=$program_dir")
! $quick || options+=(--quick)
./benefit.sh --only=build --subjects=hearth "${options[@]}" "${programs[@]}"

scratch=$build/bench/idle
mkdir -p "$scratch"
swap_file=''
remove_swap() { [[ ! $swap_file ]] || { swapoff "$swap_file" && rm -f "$swap_file"; }; }
trap remove_swap EXIT
add_swap() {
  [[ $(id -u) == 0 && -w /sys/fs/cgroup/memory ]] || fail "--swap needs root, and the memory controller of cgroup v1"
  fallocate -l "${swap}M" "$scratch/swap"
  chmod 600 "$scratch/swap"
  mkswap -q "$scratch/swap"
  swap_file=$scratch/swap
  swapon "$swap_file"
}

# watch SUBJECT MODE SECONDS EXECUTABLE OPTIONS: figures in $scratch/PROGRAM.SUBJECT
watch() {
  (cd "$realworld" && workload "$measured" python3 "$bench/idle_watch.py" "$2" "$3" "$scratch/$program.$1" \
    env "HEARTH_MALLOC=$5:dir=$scratch" "$folder/$4.exe") >"$scratch/$program.$1.out" 2>"$scratch/$program.$1.err" ||
    fail "$program fails: $scratch/$program.$1.err"
  cmp "$scratch/$program.plain.out" "$scratch/$program.$1.out" || fail "plain and $1 print different things"
}

is_current "$scratch/cold_lives.so" "$bench/cold_lives.c" ||
  "$clang" -O2 -shared -fPIC "$bench/cold_lives.c" -o "$scratch/cold_lives.so"
export HEARTH_COLD_LIVES=$scratch/lives
lives=$HEARTH_COLD_LIVES

subjects=(file auto)
((swap == 0)) || subjects+=(reclaim)
printf '%-10s%8s%8s%7s' program plain cold idle
printf '%22s' "keep: peak, mean"
for subject in "${subjects[@]}"; do printf '%26s' "$subject: peak mean again"; done
echo
for program in "${programs[@]}"; do
  open_program "$program"
  watch plain watch 1 plain cold=keep
  watch keep watch 1 hearth cold=keep
  rm -rf "$lives" && mkdir "$lives"
  interval=$(awk '{ print ($1 > 1 ? $1 : 1) / 50 }' "$scratch/$program.keep")
  LD_PRELOAD=$scratch/cold_lives.so watch looks looks "$interval" called cold=keep
  rm -rf "$lives"
  watch first watch 1 hearth cold=file:interval=0
  watch file watch 1 hearth "cold=file:interval=1:cost=$cost"
  ((swap == 0)) || add_swap
  watch auto watch 1 hearth "cold=auto:interval=1:cost=$cost"
  ((swap == 0)) || watch reclaim reclaim 1 plain cold=keep
  remove_swap
  swap_file=''
  awk -v program="$program" -v times="$times" -v swap="$swap" '
    { n = split(FILENAME, part, "."); s = part[n]; seconds[s] = $1; peak[s] = $2; mean[s] = $3; read[s] = $7 }
    s == "looks" { cold = $4; idle = $5 }
    END {
      # the first touch of a page of a file is a read, too
      again["file"] = read["file"] - read["first"]
      again["auto"] = swap ? read["auto"] : read["auto"] - read["first"]
      again["reclaim"] = read["reclaim"]
      printf "%-10s%8.0f%8.1f%7.1f%14.0f%8.0f", program, peak["plain"], cold, idle, peak["keep"], mean["keep"]
      split(swap ? "file auto reclaim" : "file auto", subject, " ")
      for (i = 1; i in subject; i++) {
        s = subject[i]
        printf "%10.0f%8.0f%8d", peak[s], mean[s], (again[s] > 0 ? again[s] : 0)
      }
      for (i = 1; times == "true" && i in subject; i++)
        printf "  %s %.3f", subject[i], seconds[subject[i]] / seconds[subject[i] == "reclaim" ? "plain" : "keep"]
      print ""
    }' "$scratch/$program".{plain,keep,looks,first} "${subjects[@]/#/$scratch/$program.}"
done
