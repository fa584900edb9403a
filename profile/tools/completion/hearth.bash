# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash
# Completion of `hearth` for bash: what the command itself lists, and else files.
_hearth() {
  local line=${COMP_LINE:0:COMP_POINT} command=() words
  local word=${line##* }
  ((COMP_CWORD == 1)) || command=("${COMP_WORDS[1]}")
  words=$(hearth "${command[@]}" --help=words 2>/dev/null | cut -f1)
  [[ $word == -* ]] || words=$(grep -v '^-' <<<"$words")
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  # To readline, a word begins behind "=".
  [[ $word != *=* ]] || COMPREPLY=("${COMPREPLY[@]#*=}")
  [[ ${COMPREPLY[*]} != *= ]] || compopt -o nospace 2>/dev/null
}
complete -o default -F _hearth hearth
