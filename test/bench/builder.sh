# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# builder: builds a tree recursively; every node is reached on a way of its own. Its argument is the height.
# shellcheck shell=bash disable=SC2034,SC2154

tree=$bench/builder
sources=(builder.c)
training=20 measured=20
$quick && training=14 measured=14

# workload INPUT COMMAND...: INPUT is the height.
workload() { "${@:2}" "$1"; }
