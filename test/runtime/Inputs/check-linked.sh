#!/bin/sh
# usage: check-linked.sh PROGRAM      run it; its profile must have the blocks and a build id
set -e
rm -f "$1".prof.*
HEARTH_OPTIONS=log_path="$1".prof "$1"
python3 "$(dirname "$0")/raw_print.py" "$1".prof.* AllocCount MaxSize > "$1".txt
grep -q "mapping: $(basename "$1") build-id" "$1".txt
grep -q "AllocCount=4 MaxSize=44 | $(basename "$1")+" "$1".txt
