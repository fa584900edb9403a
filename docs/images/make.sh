#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Take the pictures of docs/tools.md anew, from lua's profile or another one.
set -euo pipefail
# shellcheck source=../../examples/lib.sh source-path=SCRIPTDIR
source "$(dirname "$0")/../../examples/lib.sh"

usage() { echo 'usage: docs/images/make.sh [PROFILE]'; }

profile=''
parse_arguments 'profile=*' -- "$@"
"$repository/examples/setup.sh" --for=test
if [[ -z $profile ]]; then
  profile=$build/realworld/lua/lua.prof
  "$repository/examples/realworld/run.sh" --profile lua
fi

page=$(realpath "$build")/report.html
(cd "$(dirname "$profile")" && "$hearth" report "$(basename "$profile")" -o "$page")
python3 "$repository/test/report/Inputs/take_pictures.py" "$page" "$repository/docs/images/report"
