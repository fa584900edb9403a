#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs a command with a Slurm of this machine alone: the daemons of the packages slurm-wlm and munge, with two partitions,
# and all their files below DIR. Needs root. For tests, and to try with-slurm.sh.
set -euo pipefail
[[ $# -ge 2 ]] || { echo "usage: slurm-here.sh DIR COMMAND [ARGUMENT]..." >&2 && exit 2; }
dir=$(realpath -m "$1")
shift
mkdir -p "$dir"/{state,spool}
host=$(hostname -s) pids=()
trap 'kill "${pids[@]}" 2>/dev/null; wait' EXIT
port=$((20000 + RANDOM % 20000))

dd if=/dev/urandom of="$dir/key" bs=1024 count=1 status=none && chmod 400 "$dir/key"
chmod 755 "$dir"
munged --foreground --force --key-file="$dir/key" --socket="$dir/munge" --pid-file="$dir/munged.pid" \
  --log-file="$dir/munged.log" --seed-file="$dir/seed" 2>/dev/null &
pids+=($!)
cat >"$dir/slurm.conf" <<END
ClusterName=here
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthInfo=socket=$dir/munge
SlurmctldPort=$port
SlurmdPort=$((port + 1))
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
MaxArraySize=100001
MaxJobCount=200000
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=short Nodes=$host Default=YES MaxTime=60 State=UP
PartitionName=long Nodes=$host MaxTime=INFINITE State=UP
END
export SLURM_CONF=$dir/slurm.conf
slurmctld -D -c 2>/dev/null &
pids+=($!)
slurmd -D -c 2>/dev/null &
pids+=($!)
until [[ $(sinfo -h -o %t -p short 2>/dev/null) == idle ]]; do
  kill -0 "${pids[@]}" || { tail -n 3 "$dir"/slurm*.log >&2 && exit 1; }
  sleep 0.25
done
"$@"
