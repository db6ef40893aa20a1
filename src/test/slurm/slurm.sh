#!/usr/bin/env bash
# slurm.sh start|stop: a Slurm of one node for the launchers' tests; as root, with slurm-wlm and munge installed.
# start prints the SLURM_CONF to export, and does nothing more where it runs already.
set -euo pipefail
home=$(cd -- "$(dirname -- "$0")" && pwd)
dir=${TUTTI_SLURM_DIR:-/tmp/tutti-slurm}
export SLURM_CONF=$dir/slurm.conf

answers() {
  [ -e "$SLURM_CONF" ] && timeout 5 sinfo --noheader --states=idle,alloc,mix,comp 2>/dev/null | grep -q .
}

start_munge() {
  munge -n 2>/dev/null | unmunge >/dev/null 2>&1 && return
  install -d -m 755 -o munge -g munge /run/munge
  runuser -u munge -- munged
}

start() {
  start_munge
  if ! answers; then
    stop
    mkdir -p "$dir/state" "$dir/spool"
    sed -e "s#@DIR@#$dir#; s#@HOST@#$(hostname -s)#" "$home/slurm.conf.in" > "$SLURM_CONF"
    slurmctld -c -f "$SLURM_CONF"
    slurmd -f "$SLURM_CONF"
    for _ in $(seq 100); do answers && break; sleep 0.1; done
    answers || { echo "slurm.sh: no node is ready; see $dir/slurmctld.log and $dir/slurmd.log" >&2; exit 1; }
  fi
  echo "$SLURM_CONF"
}

stop() {
  for daemon in slurmd slurmctld; do
    pid=$(cat "$dir/$daemon.pid" 2>/dev/null || true)
    if [ -n "$pid" ] && [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = "$daemon" ]; then
      kill "$pid"
      for _ in $(seq 100); do [ -e "/proc/$pid" ] || break; sleep 0.1; done
    fi
  done
  rm -rf "$dir"
}

case ${1:-} in
  start) start ;;
  stop) stop ;;
  *) echo "usage: slurm.sh start|stop" >&2; exit 64 ;;
esac
