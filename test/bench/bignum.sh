# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# bignum: arithmetic whose every result is a new block. Its argument is a number of fractions.
# shellcheck shell=bash disable=SC2034,SC2154

tree=$bench/bignum
sources=(bignum.c)
training=2000 measured=40000
$quick && training=500 measured=500

# workload INPUT COMMAND...: INPUT is the number of fractions.
workload() { "${@:2}" "$1"; }
