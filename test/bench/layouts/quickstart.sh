# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The store of the quickstart, for `benefit.sh --layouts --simulate --program-dir=layouts`: minutes, where real programs take an
# hour.
# shellcheck shell=bash disable=SC2034,SC2154

source "$bench/quickstart.sh"
unset simulated # what the program was trained with is simulated
counted="5000 20000 3"
