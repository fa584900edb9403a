#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Which misuse of the heap ends a program, under Hearth's allocator, its secure mode, and others?
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=lib.sh
source ./lib.sh

usage() {
  cat <<END
usage: test/bench/misuse.sh
Each row is a misuse; each figure says with how many of five sizes (32, 48, 1,000, 5,000, 200,000 bytes) it ends the program, by
a message or a fault. scudo is that of LLVM $llvm, with its default options; '-' stands for an allocator that is not installed.
END
}

parse_arguments -- "$@"

"$repository/examples/setup.sh" --for=bench
work=$build/bench/misuse
mkdir -p "$work"
step "building misuse" "$work/build.log" "$clang" -O1 -fno-builtin "$repository/test/malloc/misuse.c" -pthread -o "$work/misuse"
own=$build/lib/libhearth_malloc.so
subjects=(glibc jemalloc tcmalloc mimalloc scudo hearth secure)
declare -A preloaded=([jemalloc]=$(library libjemalloc.so.2) [tcmalloc]=$(library libtcmalloc_minimal.so.4)
  [mimalloc]=$(library libmimalloc.so.2) [scudo]=$("$clang" -print-file-name=libclang_rt.scudo_standalone-x86_64.so)
  [hearth]=$own [secure]=$own)
for subject in "${subjects[@]}"; do
  variables=()
  if [[ $subject != glibc ]]; then
    [[ -e ${preloaded[$subject]} ]] || { echo '- -' >"$work/$subject" && continue; }
    variables=("LD_PRELOAD=${preloaded[$subject]}")
  fi
  [[ $subject != secure ]] || variables+=(HEARTH_MALLOC=secure=on)
  timeout 600 env "${variables[@]}" "$work/misuse" table >"$work/$subject"
done
awk -v subjects="${subjects[*]}" '
  BEGIN { columns = split(subjects, subject); printf "%-26s", ""; for (i = 1; i <= columns; i++) printf "%10s", subject[i]; print "" }
  FNR == 1 { column++ }
  { if (!($1 in at)) { at[$1] = ++rows; name[rows] = $1 } figure[$1, column] = $2 }
  END {
    for (row = 1; row <= rows; row++) {
      printf "%-26s", name[row]
      for (i = 1; i <= columns; i++)
        printf "%10s", (name[row], i) in figure ? figure[name[row], i] : "-"
      print ""
    }
  }' "${subjects[@]/#/$work/}"
