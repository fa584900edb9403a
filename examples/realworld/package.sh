# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Shell functions that fetch a source package of the distribution. Sourced after ../lib.sh.
# shellcheck shell=bash disable=SC2154
#
# The script that sources this sets or defines:
#   package   name of the source package
#   prepare   a function: what the package's build system would generate, run in its tree
#   work      directory for everything that is made
#   tree      the unpacked package, below it
#   suites    optional: what may follow the release's name in that of the package's suite, as a regular expression

# mirrors: where the system takes its packages of this release from.
mirrors() {
  local codename
  # shellcheck source=/dev/null
  codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
  # shellcheck disable=SC2016  # apt's own variables
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    awk -v suites="^$codename${suites:-}\$" -v codename="$codename" '
      function source(uri, suite) { print "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]", uri, suite, "main" }
      $2 ~ suites && $3 == "main" && !seen[$2]++ { source($1, $2); found = 1 }
      END { if (!found) source("http://deb.debian.org/debian", codename) }'
}

# download: the source package into $build/source-packages/packages. apt's files lie in a folder of their own that all programs
# share: the system's own lists, caches and sources are neither read nor changed. Lists are fetched if there are none, or if
# they are too old.
download() {
  local apt=$build/source-packages options
  options=(-q -o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=-
    -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o APT::Get::List-Cleanup=0
    -o "APT::Sandbox::User=$(id -un)")
  local get=(apt-get "${options[@]}" source --download-only "$package")
  mkdir -p "$apt"/{lists,cache/archives}/partial "$apt/packages"
  mirrors >"$apt/sources.list"
  (cd "$apt/packages" && { "${get[@]}" || { apt-get "${options[@]}" update && "${get[@]}"; }; })
}

# fetch: the source package into $tree.
fetch() {
  download
  dpkg-source -x "$build/source-packages/packages/$package"_*.dsc "$tree.new"
  (cd "$tree.new" && prepare)
  mv "$tree.new" "$tree"
}

# fetch_once: fetch, unless it was done before.
fetch_once() {
  [[ -d $tree ]] && return
  rm -rf "$tree.new"
  step "fetching the source package $package" "$work/fetch.log" fetch
}
