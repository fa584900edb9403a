#!/bin/sh
# usage: check-blocks.sh PROGRAM [HEARTH]     run a program made of blocks.c: its profile must be complete, with accesses,
#                                             and with HEARTH, the command, resolvable
set -e
rm -f "$1".prof.*
HEARTH_OPTIONS=log_path="$1".prof "$1"
python3 "$(dirname "$0")/raw_print.py" "$1".prof.* MaxSize AllocCount TotalAccessCount LiveAtExit > "$1".txt
grep -q "profile: accesses=1 .* dropped_blocks=0 dropped_stacks=0" "$1".txt
grep -q "MaxSize=111 AllocCount=3 TotalAccessCount=6 LiveAtExit=0 | $(basename "$1")+" "$1".txt
grep -q "MaxSize=222 AllocCount=1 TotalAccessCount=0 LiveAtExit=1 | $(basename "$1")+" "$1".txt
test -z "$2" && exit
"$2" index "$1".prof.* -o "$1".indexed
"$2" show --function=main "$1".indexed | grep -q "by 4 allocations\|4 allocations"
