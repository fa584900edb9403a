#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Run what a document tells its reader to run: its blocks that are fenced as sh, in their order, in one shell that ends at the
# first error. A how-to fits on a page.
set -euo pipefail

usage() {
  cat <<END
usage: test/e2e/documents/run.sh BIN DOCUMENT FOLDER
Runs DOCUMENT's commands in FOLDER, which is made anew and holds the how-to's app.c, with BIN first in PATH.
END
}

if [[ ${1:-} == --help || $# != 3 ]]; then
  usage
  exit "$([[ ${1:-} == --help ]] && echo 0 || echo 2)"
fi
bin=$(realpath "$1") document=$(realpath "$2")
rm -rf "$3"
mkdir -p "$3"
cd "$3"
cp "${document%/*}"/{,docs/howto/}app.c . 2>/dev/null || [[ -e app.c ]]
sed -n '/^```sh$/,/^```$/{/^```/!p}' "$document" >commands
[[ -s commands ]]
[[ $document != */howto/* ]] || (($(wc -l <"$document") <= 80))
unset HEARTH HEARTH_CC HEARTH_CXX HEARTH_FLAGS HEARTH_OPTIONS HEARTH_MALLOC
PATH=$bin:$PATH bash -euxo pipefail commands
