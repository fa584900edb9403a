#!/bin/sh
# usage: profiled.sh COMPILER RUNTIME SOURCE PROGRAM [FLAG...]
# Build a profiled program: instrumented by clang, linked with our runtime instead of clang's. The flags are for both
# steps.
set -e
compiler=$1 runtime=$2 source=$3 program=$4
shift 4
flags="-g -O1 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fno-optimize-sibling-calls -fno-builtin"
include=$(dirname "$0")/../../../runtime/include
"$compiler" $flags -I"$include" -fmemory-profile "$@" -Wno-unused-command-line-argument -c "$source" -o "$program.o"
"$compiler" -Wl,--build-id "$program.o" "$runtime" -lpthread "$@" -o "$program"
