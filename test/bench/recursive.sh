# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# calculate: a parser that calls itself; nearly every allocation has a call stack of its own. Its argument is a number of
# statements: 14 make 23 thousand contexts, 146 make 250 thousand, 610 make a million.
# shellcheck shell=bash disable=SC2034,SC2154

tree=$bench/recursive
sources=({calculate,generate}.c)
training=146 measured=146
$quick && training=14 measured=14

# workload INPUT COMMAND...: INPUT is the number of statements.
workload() { "${@:2}" "$1"; }
