# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# lists: walks over three linked lists of 70 MB each. Its argument is a number of rounds.
# shellcheck shell=bash disable=SC2034,SC2154

tree=$bench/lists
sources=(lists.c)
training=2 measured=8
$quick && training=1 measured=1

# workload INPUT COMMAND...: INPUT is the number of rounds.
workload() { "${@:2}" "$1"; }
