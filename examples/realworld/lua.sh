# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# lua: the interpreter with the scripts in lua/. Every block comes from one realloc behind a function pointer (l_alloc),
# so no inlining can tell its callers apart.
# shellcheck shell=bash disable=SC2034,SC2154

package=lua5.4
sources=(src/{lapi,lauxlib,lbaselib,lcode,lcorolib,lctype,ldblib,ldebug,ldo,ldump,lfunc,lgc,linit,liolib,llex}.c
  src/{lmathlib,lmem,loadlib,lobject,lopcodes,loslib,lparser,lstate,lstring,lstrlib,ltable,ltablib,ltm,lua,lundump}.c
  src/{lutf8lib,lvm,lzio}.c)
compile_flags=(-w -DLUA_COMPAT_5_3 -DLUA_USE_POSIX)
link_flags=(-lm)

# The file that Debian's build generates.
prepare() {
  printf '#define DEB_HOST_MULTIARCH "%s"\n' "$(dpkg-architecture -q DEB_HOST_MULTIARCH)" >src/lua5.4-deb-multiarch.h
}

# Inputs are a size for each script: "TREES STRINGS TABLES".
training="12 60000 60000" measured="13 250000 250000"
if $quick; then
  training="10 20000 20000" measured="11 30000 30000"
fi

# workload INPUT COMMAND...
workload() {
  local trees strings tables
  read -r trees strings tables <<<"$1"
  shift
  "$@" lua/binary_trees.lua "$trees"
  "$@" lua/strings.lua "$strings"
  "$@" lua/tables.lua "$tables"
}
