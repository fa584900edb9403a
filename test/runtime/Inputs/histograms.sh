#!/bin/sh
# usage: histograms.sh HEARTH PROGRAM [OPTIONS]
# Run a program that was compiled in histogram mode; print each context: "FUNCTION ACCESSES: COUNT ...", sorted.
set -e
hearth=$1 program=$2
rm -f "$program".prof.*
HEARTH_OPTIONS="log_path=$program.prof:$3" "$program"
"$hearth" index "$program".prof.* --binary "$program" -o "$program.ix" > /dev/null
"$hearth" show --text "$program.ix" |
  awk '/^context/ { name = ""; total = 0 }
       $1 == "frame" && name == "" { name = $2 }
       $1 == "TotalAccessCount" { total = $2 }
       $1 == "histogram" { $1 = ""; print name " " total ":" $0 }' | sort
