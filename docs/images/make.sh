#!/usr/bin/env bash
# Take the pictures of docs/tools.md anew, from lua's profile or another one.
set -euo pipefail
repository=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=../../examples/lib.sh source-path=SCRIPTDIR
source "$repository/examples/lib.sh"

case ${1-} in
  -h | --help) echo 'usage: docs/images/make.sh [PROFILE]' && exit ;;
esac
"$repository/examples/setup.sh" --for=test
profile=${1-$build/realworld/lua/lua.prof}
[[ -n ${1-} ]] || "$repository/examples/realworld/run.sh" --profile lua

page=$(realpath "$build")/report.html
(cd "$(dirname "$profile")" && "$hearth" report "$(basename "$profile")" -o "$page")
python3 "$repository/test/report/Inputs/take_pictures.py" "$page" "$repository/docs/images/report"
