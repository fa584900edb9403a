#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Make the Debian packages of what is built: all of the build tree for one release of LLVM, and the plugins of the others.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=../examples/lib.sh source-path=SCRIPTDIR/../examples
source examples/lib.sh

usage() {
  cat <<END
usage: packaging/debs.sh [--tree=DIR] [--output=DIR]
  --tree=DIR    a build tree (default: build; examples/setup.sh makes it)
  --output=DIR  for the packages (default: build/debs)
The plugins of the trees DIR-llvm* beside it (examples/setup.sh --llvm=19) get packages, too. All are built first.
END
}

tree=$build output=
parse_arguments '--tree=?* tree' '--output=?* output' -- "$@"
output=${output:-$tree/debs}

release_of() { sed -n 's/^HEARTH_LLVM:STRING=//p' "$1/CMakeCache.txt"; }

maintainer=$(sed -n 's/^HEARTH_MAINTAINER:STRING=//p' "$tree/CMakeCache.txt")
[[ $maintainer != *@example.org* ]] ||
  echo "note: the packages name '$maintainer'; to give them away: cmake -DHEARTH_MAINTAINER='NAME <ADDRESS>' $tree" >&2

# CPack installs each component from each tree, and what comes later replaces what is there: the main tree is the last.
projects='' components=''
for other in "$tree"-llvm* "$tree"; do
  [[ -e $other/build.ninja ]] || continue
  step "building in $(basename "$other")" "$tree/log/build-$(basename "$other").log" ninja -C "$other"
  projects+="$other;Hearth;ALL;/;" components+="llvm$(release_of "$other");"
done
components+='tools;runtime;md;dev'
rm -rf "$output"
step "making packages of $components" "$tree/log/cpack.log" cpack --config "$tree/CPackConfig.cmake" -B "$output" \
  -D "CPACK_INSTALL_CMAKE_PROJECTS=${projects%;}" -D "CPACK_COMPONENTS_ALL=$components"
rm -rf "$output/_CPack_Packages"
ls "$output"/*.deb
