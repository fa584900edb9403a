#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# use.sh ROOT RUN.SH DEB...: install the packages in the system in ROOT and use them there. In a mount namespace of its own.
set -euo pipefail

root=$1 run=$2
shift 2
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
cp "$run" "$@" "$root/tmp"
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root chroot "$root" bash -euo pipefail <<'END'
ldconfig
dpkg -i /tmp/*.deb >/tmp/dpkg.log 2>&1 || { cat /tmp/dpkg.log; exit 1; }
hearth --version
ls /usr/share/man/man1 | grep hearth.1
/tmp/run.sh /usr/bin /usr/share/doc/hearth/README.md /tmp/work
cd /tmp/work
hearth record -- ./app 2000 1000 2>&1
END
