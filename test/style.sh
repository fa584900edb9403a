#!/usr/bin/env bash
# Checks what tools can check of how the sources are written: layout, shell scripts, licence lines.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=../examples/lib.sh source-path=SCRIPTDIR
source examples/lib.sh

usage() {
  cat <<END
usage: test/style.sh [--fix]
  --fix  bring C and C++ sources into the project's layout instead of complaining
Needs git, clang-format-22 and shellcheck. The exit status is 0 if nothing was found.
END
}

fix=false
parse_arguments --fix -- "$@"

status=0
mapfile -t sources < <(git ls-files '*.c' '*.h' '*.cpp' | grep -vE '^test/(annotate|e2e|hotcold|mdlib|profile|record|report|runtime)/[^/]*$|/Inputs/')
mapfile -t scripts < <(git ls-files '*.sh' .ci/run)

echo "==> layout of ${#sources[@]} sources"
if $fix; then
  clang-format-22 -i "${sources[@]}"
else
  clang-format-22 --dry-run -Werror "${sources[@]}" || {
    echo "test/style.sh --fix mends this" >&2
    status=1
  }
fi

echo "==> ${#scripts[@]} shell scripts"
shellcheck -S warning "${scripts[@]}" || status=1

echo "==> licence lines"
unlicensed=$(git ls-files '*.c' '*.h' '*.cpp' '*.def' '*.sh' '*.py' | grep -vE '/Inputs/|^test/golden/' |
  xargs grep -L 'SPDX-License-Identifier: ' || true)
if [[ -n $unlicensed ]]; then
  printf '%s: no SPDX-License-Identifier\n' $unlicensed >&2
  status=1
fi
exit "$status"
