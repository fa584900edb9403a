#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Checks what tools can check of how the sources are written: layout, shell scripts, licence lines, rules of CONTRIBUTING,
# length of documents.
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
# Not files of lit tests, in which line numbers count.
own() { git ls-files "$@" | grep -vE '/Inputs/|^test/golden/' |
  grep -E '^test/[a-z0-9]+/unit/|\.(sh|py)$|^test/(bench|fuzz|tools)/|^(annotate|examples|mdlib|profile|runtime)/'; }
mapfile -t sources < <(own '*.c' '*.h' '*.cpp')
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
mapfile -t unlicensed < <(own '*.c' '*.h' '*.cpp' '*.def' '*.sh' '*.py' | xargs grep -L 'SPDX-License-Identifier: ')
if ((${#unlicensed[@]} > 0)); then
  printf '%s: no SPDX-License-Identifier\n' "${unlicensed[@]}" >&2
  status=1
fi

# complain TEXT < LINES: an error for each line
complain() {
  local line
  while IFS= read -r line; do
    printf '%s: %s\n' "$line" "$1" >&2
    status=1
  done
}

echo "==> rules of CONTRIBUTING.md"
complain 'only C++ tests the release of LLVM' < <(git grep -lE 'LLVM_VERSION_(MAJOR|MINOR)' -- '*.c' '*.h' || true)
complain 'the name occurs twice' < <(git ls-files annotate mdlib profile runtime | grep -E '[.](c|cpp)$' |
  sed 's|.*/||' | sort | uniq -d)

echo "==> documents"
most_words=35000
# Tables, code and the tables that scripts write may be wider.
mapfile -t documents < <(git ls-files '*.md')
complain 'is longer than 120 columns' < <(awk 'length > 120 && !/^([|]|    )/ { print FILENAME ":" FNR }' "${documents[@]}")
words=$(git ls-files '*.md' | grep -v '^CHANGELOG.md$' | xargs cat | wc -w)
((words <= most_words)) || complain "words, more than $most_words" <<<"documents: $words"
words=$(wc -w <README.md)
((words <= 900)) || complain 'words, more than 900' <<<"README.md: $words"
exit "$status"
