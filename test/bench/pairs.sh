# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# pairs: malloc and free at a depth of ten calls. Its input is "THREADS PAIRS".
# shellcheck shell=bash disable=SC2034,SC2154

tree=$bench/pairs
sources=(pairs.c)
compile_flags=(-fno-builtin-malloc)
link_flags=(-lpthread)
training="1 1000000" measured="1 1000000"

# workload INPUT COMMAND...: INPUT is threads and pairs.
workload() {
  local numbers
  read -ra numbers <<<"$1"
  "${@:2}" "${numbers[@]}"
}
