#!/usr/bin/env bash
# Set up Debian's Slurm on this machine as one node with two partitions, without systemd, and wait until it answers.
# Root only; meant for CI and throw-away machines. `one_node.sh stop` ends the daemons again.
#
# Jobs in `low` are preempted and requeued by jobs in `high`.
set -euo pipefail

run=/run/recap-slurm
state=/var/lib/recap-slurm

stop() {
    for name in slurmd slurmctld munged; do
        if [ -f "$run/$name.pid" ]; then
            kill "$(cat "$run/$name.pid")" 2>/dev/null || true
            rm -f "$run/$name.pid"
        fi
    done
}

if [ "${1:-start}" = stop ]; then
    stop
    exit 0
fi

if [ -f /etc/slurm/slurm.conf ] && ! grep -q '^ClusterName=recap$' /etc/slurm/slurm.conf; then
    echo "this machine has a Slurm of its own (/etc/slurm/slurm.conf): left alone" >&2
    exit 1
fi

if ! command -v slurmctld >/dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends slurm-wlm munge >/dev/null
fi

stop
mkdir -p "$run" "$state/ctld" "$state/d" /etc/slurm /run/munge
[ -f /etc/munge/munge.key ] || { umask 077; dd if=/dev/urandom bs=1 count=1024 of=/etc/munge/munge.key status=none; }
chown -R munge:munge /etc/munge /run/munge /var/lib/munge /var/log/munge
chmod 0755 /run/munge

cores=$(nproc)
host=$(hostname -s)
cat >/etc/slurm/slurm.conf <<CONF
ClusterName=recap
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=1,sched_interval=2
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
ReturnToService=2
MpiDefault=none
StateSaveLocation=$state/ctld
SlurmdSpoolDir=$state/d
SlurmctldPidFile=$run/slurmctld.pid
SlurmdPidFile=$run/slurmd.pid
SlurmctldLogFile=$state/slurmctld.log
SlurmdLogFile=$state/slurmd.log
KillWait=30
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cores State=UNKNOWN
PartitionName=low Nodes=$host Default=YES PriorityTier=1 GraceTime=5 State=UP
PartitionName=high Nodes=$host PriorityTier=10 State=UP
CONF

munged --force --pid-file="$run/munged.pid"
slurmctld
slurmd

for _ in $(seq 60); do
    if sinfo --noheader --format=%T 2>/dev/null | grep -q -E '^(idle|mixed)'; then
        sinfo
        exit 0
    fi
    sleep 1
done
echo "Slurm did not come up within 60 s; the end of its logs:" >&2
tail -n 20 "$state/slurmctld.log" "$state/slurmd.log" >&2
exit 1
