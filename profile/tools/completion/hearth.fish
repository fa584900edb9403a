# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Completion of `hearth` for fish: what the command itself lists, and files behind a command.
function __hearth_words
    set -l tokens (commandline -opc)
    hearth $tokens[2] --help=words 2>/dev/null
end
complete -c hearth -n 'test (count (commandline -opc)) -eq 1' -f -a '(__hearth_words)'
complete -c hearth -n 'test (count (commandline -opc)) -gt 1' -a '(__hearth_words)'
