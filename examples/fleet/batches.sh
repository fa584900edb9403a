#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Lists profiles for an engine: DIR/1.list, DIR/2.list and so on, of SIZE profiles each, sorted by name. A batch whose
# list changed loses its partial result, so only batches with new inputs are made anew. Prints the number of batches. Names
# become absolute, as workers have folders of their own; a line may begin with a weight, 'N,'.
set -euo pipefail
[[ $# -ge 2 ]] || { echo "usage: batches.sh SIZE DIR < LIST" >&2 && exit 2; }
size=$1 dir=$2
mkdir -p "$dir"
rm -f "$dir"/new.*
awk '/./ {
  weight = match($0, /^[0-9]+,/) ? substr($0, 1, RLENGTH) : ""
  name = substr($0, length(weight) + 1)
  print weight (name ~ /^[\/#]/ ? "" : ENVIRON["PWD"] "/") name
}' | sort | split -l "$size" -a 6 -d - "$dir/new."
count=0
for new in "$dir"/new.*; do
  [[ -e $new ]] || break
  count=$((count + 1))
  if cmp -s "$new" "$dir/$count.list"; then
    rm "$new"
  else
    rm -f "$dir/$count.heap"
    mv "$new" "$dir/$count.list"
  fi
done
for ((i = count + 1; ; i++)); do # of an earlier, longer list
  [[ -e $dir/$i.list ]] || break
  rm -f "$dir/$i.list" "$dir/$i.heap"
done
echo "$count"
