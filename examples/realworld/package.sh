# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Shell functions that fetch a source package of the distribution. Sourced after ../lib.sh.
# shellcheck shell=bash disable=SC2154
#
# The script that sources this sets or defines:
#   package   name of the source package
#   prepare   a function: what the package's build system would generate, run in its tree
#   work      directory for everything that is made
#   tree      the unpacked package, below it

# mirror: where the system takes its packages of this release from.
mirror() {
  local codename uri
  # shellcheck source=/dev/null
  codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
  # shellcheck disable=SC2016  # apt's own variables
  uri=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    awk -v codename="$codename" '$2 == codename && $3 == "main" && !seen++ { print $1 }')
  printf 'deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n' \
    "${uri:-http://deb.debian.org/debian}" "$codename"
}

# fetch: the source package into $tree. apt's files lie in a folder of their own that all programs share: the system's own
# lists, caches and sources are neither read nor changed. Lists are fetched if there are none, or if they are too old.
fetch() {
  local apt=$build/source-packages options
  options=(-q -o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=-
    -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o APT::Get::List-Cleanup=0
    -o "APT::Sandbox::User=$(id -un)")
  local download=(apt-get "${options[@]}" source --download-only "$package")
  mkdir -p "$apt"/{lists,cache/archives}/partial "$apt/packages"
  mirror >"$apt/sources.list"
  (cd "$apt/packages" && { "${download[@]}" || { apt-get "${options[@]}" update && "${download[@]}"; }; })
  dpkg-source -x "$apt/packages/$package"_*.dsc "$tree.new"
  (cd "$tree.new" && prepare)
  mv "$tree.new" "$tree"
}

# fetch_once: fetch, unless it was done before.
fetch_once() {
  [[ -d $tree ]] && return
  rm -rf "$tree.new"
  step "fetching the source package $package" "$work/fetch.log" fetch
}
