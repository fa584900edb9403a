#!/usr/bin/env bash
# usage: numbered.sh FOLDER COMMAND...
# Run the command; its profile, in whichever runtime's format, goes to FOLDER/N, N counting from 1. Stacks are found by frame
# pointers, as LLVM's are.
set -e
folder=$1
shift
number=1
while [ -e "$folder/$number" ]; do
  number=$((number + 1))
done
mkdir -p "$folder/$number"
export HEARTH_OPTIONS="log_path=$folder/$number/raw:recursion=full:unwind=fp" MEMPROF_OPTIONS="log_path=$folder/$number/raw:malloc_context_size=255"
export ORACLE="$folder/$number/sizes" ORACLE_STACKS="$folder/$number/stacks"
exec -a program "$@" # a name of its own would be a difference
