#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Ships a host's finished profiles: from FOLDER, where programs write them, by the command SHIP, which gets the files as
# arguments and removes nothing. Shipped files are removed. If SHIP fails, they stay for the next time; above LIMIT
# megabytes the oldest go. The runtime writes a profile aside and renames it, so every file with a final name is whole.
set -euo pipefail
[[ $# -ge 3 ]] || { echo "usage: spool.sh FOLDER LIMIT SHIP [ARGUMENT]..." >&2 && exit 2; }
folder=$1 limit=$(($2 * 1024 * 1024))
shift 2
exec 9<"$folder"
flock -n 9 || exit 0 # the last time is not done

mapfile -d '' -t files < <(find "$folder" -maxdepth 1 -type f ! -name '*.tmp' -printf '%T@ %p\0' | sort -zn | cut -z -d' ' -f2-)
[[ ${#files[@]} -gt 0 ]] || exit 0
status=0
for ((i = 0; i < ${#files[@]}; i += 500)); do
  if "$@" "${files[@]:i:500}"; then
    rm -f "${files[@]:i:500}"
  else
    status=1
    break
  fi
done

size=0 # newest first
for ((i = ${#files[@]} - 1; i >= 0; i--)); do
  [[ -e ${files[i]} ]] || continue
  size=$((size + $(stat -c %s "${files[i]}")))
  [[ $size -le $limit ]] || rm -f "${files[i]}"
done
exit $status
