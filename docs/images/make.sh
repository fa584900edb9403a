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

# Pictures say where sources lie on any machine, not on this one.
pictured=$build/pictured/$(basename "$profile")
mkdir -p "$(dirname "$pictured")"
"$hearth" show --text "$profile" | sed "s:$(realpath "$build")/realworld/\([a-z]*\)/source:/usr/src/\1:g" |
  "$hearth" index -q - -o "$pictured"

page=$(realpath "$build")/report.html
(cd "$(dirname "$pictured")" && "$hearth" report "$(basename "$pictured")" -o "$page")
python3 "$repository/test/report/Inputs/take_pictures.py" "$page" "$repository/docs/images/report"
