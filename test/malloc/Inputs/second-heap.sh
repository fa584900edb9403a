#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds a program with the allocator's sources beside the C library's malloc, which a sanitizer has to itself: the allocator's
# functions get the prefix `engine`, in its objects and in the program's.
# usage: second-heap.sh CLANG OBJCOPY RUNTIME FORMAT PROGRAM.c OUTPUT FLAG...
set -euo pipefail
clang=$1 objcopy=$2 runtime=$3 format=$4 program=$5 output=$6
shift 6
objects=$output.objects
rm -rf "$objects"
mkdir -p "$objects"
compile() {
    "$clang" -O1 -g -fno-builtin -fexceptions -fvisibility=hidden -w -I"$runtime/malloc" -I"$runtime/memory" \
        -I"$runtime/include" -I"$format" -c "$@"
}
for source in "$runtime"/malloc/*.c "$runtime"/memory/*.c "$program"; do
    calls=()
    [[ $source != */machine_linux.c ]] || calls=(-include "$(dirname "$0")/second_machine.h")
    compile "$@" "${calls[@]}" "$source" -o "$objects/$(basename "$source" .c).o"
done
compile -std=c++17 "$runtime/memory/new_retry.cpp" -o "$objects/new_retry.o"
for name in malloc_functions malloc_reports operator_new; do
    nm --defined-only "$objects/$name.o" | awk '$2 == "W" { print $3, "engine" $3 }'
done | sort -u > "$objects/names"
for object in "$objects"/*.o; do
    "$objcopy" --redefine-syms="$objects/names" "$object"
done
"$clang" "$@" "$objects"/*.o -o "$output" -pthread
