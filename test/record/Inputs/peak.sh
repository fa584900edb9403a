#!/bin/sh
# usage: peak.sh HEARTH PROGRAM WAY...
# Records the program for each way; it prints how much is live at the peak. Says whether the dump has that, to half a percent
# (exact) or to one (near).
hearth=$1 program=$2
shift 2
for way; do
  rm -f "$way".*
  peak=$("$hearth" record -q --mode=live -o "$way" -- "$program" "$way")
  "$hearth" index -q --symbols "$way.peak" -o "$way.prof"
  "$hearth" show --text "$way.prof" | awk -v way="$way" -v peak="$peak" '
    function within(part) { return sum >= (1 - part) * peak && sum <= (1 + part) * peak }
    /^  TotalSize/ { sum += $NF }
    END { print way, (within(0.005) ? "exact" : within(0.01) ? "near" : sum " of " peak) }'
done
