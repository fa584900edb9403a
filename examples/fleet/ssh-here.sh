#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs a command with an ssh server of this machine alone, of the package openssh-server: hosts `here1` and `here2`, both
# this machine, with keys and all other files below DIR. $PARALLEL_SSH is how GNU parallel reaches them. For tests, and to
# try with-parallel.sh.
set -euo pipefail
[[ $# -ge 2 ]] || { echo "usage: ssh-here.sh DIR COMMAND [ARGUMENT]..." >&2 && exit 2; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)
shift
server=$(PATH=$PATH:/usr/sbin:/sbin command -v sshd) # which wants its whole path
[[ $(id -u) != 0 ]] || mkdir -p /run/sshd # as root it goes into this empty folder before a login

rm -f "$dir"/{host,user}-key*
for key in host user; do ssh-keygen -q -t ed25519 -N '' -f "$dir/$key-key"; done
start() {
  port=$((20000 + RANDOM % 20000))
  cat >"$dir/sshd.conf" <<END
ListenAddress 127.0.0.1
Port $port
HostKey "$dir/host-key"
AuthorizedKeysFile "$dir/user-key.pub"
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
MaxStartups 100
END
  cat >"$dir/ssh.conf" <<END
Host here1 here2
  HostName 127.0.0.1
  Port $port
  HostKeyAlias here
  IdentityFile "$dir/user-key"
  IdentitiesOnly yes
  UserKnownHostsFile "$dir/known-hosts"
  StrictHostKeyChecking yes
  BatchMode yes
END
  printf 'here %s\n' "$(cut -d' ' -f1,2 "$dir/host-key.pub")" >"$dir/known-hosts"
  "$server" -D -e -f "$dir/sshd.conf" 2>"$dir/sshd.log" &
  pid=$!
}
trap 'kill "$pid" 2>/dev/null; wait' EXIT
start
for ((i = 0; ; i++)); do
  ssh -n -F "$dir/ssh.conf" here1 true 2>"$dir/ssh.log" && break # -n: the command's input is not ssh's
  [[ $i -lt 40 ]] || { cat "$dir"/{ssh,sshd}.log >&2 && exit 1; }
  kill -0 "$pid" 2>/dev/null || start # the port may be another's
  sleep 0.25
done
PARALLEL_SSH="ssh -F $dir/ssh.conf" "$@"
