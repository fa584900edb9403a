/* 16 threads, all functions, blocks of each other, forks and signals: Inputs/torture.c, some seconds of it. By hand: more
 * operations, other seeds.
 *
 * RUN: %clang -O1 -fno-builtin %S/Inputs/torture.c -o %t -pthread
 * RUN: env LD_PRELOAD=%malloc_checked %t 400000 1 | FileCheck %s
 * RUN: env LD_PRELOAD=%malloc %t 800000 2 | FileCheck %s
 *
 * CHECK: operations well, seed {{[12]}}, {{[1-9][0-9]*}} children, interrupted
 */
