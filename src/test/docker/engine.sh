#!/bin/sh
# engine.sh start|stop: a Docker engine in a network namespace of its own, so that its bridges and
# packet filters stay out of this machine's. `start` installs what is missing (Debian, as root) and
# prints the variables to export. Whoever talks to a published port runs in that namespace too:
#   nsenter --net=/run/netns/tutti COMMAND
# Of the environment: ENGINE_DIR (where it keeps its data), ENGINE_NAMESPACE.
set -eu

dir=${ENGINE_DIR:-/tmp/tutti-engine}
namespace=${ENGINE_NAMESPACE:-tutti}
# Debian's own client: it speaks the version of Debian's engine.
docker=/usr/bin/docker
export DOCKER_HOST="unix://$dir/docker.sock"

install_engine() {
  if [ -x "$docker" ] && command -v dockerd >/dev/null && command -v busybox >/dev/null; then
    return
  fi
  apt-get update -q >/dev/null
  DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y -q \
    --no-install-recommends docker.io iptables busybox-static >/dev/null
}

start() {
  install_engine
  mkdir -p "$dir"
  if ! [ -e "/run/netns/$namespace" ]; then
    ip netns add "$namespace"
    ip -n "$namespace" link set lo up
  fi
  if ! "$docker" info >/dev/null 2>&1; then
    setsid nsenter --net="/run/netns/$namespace" dockerd --data-root "$dir/data" --exec-root "$dir/exec" \
      --pidfile "$dir/pid" -H "$DOCKER_HOST" >"$dir/log" 2>&1 </dev/null &
    await_engine
  fi
  echo "export DOCKER_HOST=$DOCKER_HOST TESTCONTAINERS_RYUK_DISABLED=true TESTCONTAINERS_HOST_OVERRIDE=127.0.0.1"
}

await_engine() {
  tries=150
  until "$docker" info >/dev/null 2>&1; do
    tries=$((tries - 1))
    if [ "$tries" = 0 ]; then
      echo "engine.sh: the engine does not answer after 30 s:" >&2
      tail -n 20 "$dir/log" >&2
      exit 1
    fi
    sleep 0.2
  done
}

stop() {
  if [ -e "$dir/pid" ]; then
    pid=$(cat "$dir/pid")
    kill "$pid"
    tries=150
    while [ -e "/proc/$pid" ] && [ "$tries" -gt 0 ]; do
      tries=$((tries - 1))
      sleep 0.2
    done
  fi
  ip netns del "$namespace"
}

case ${1:-} in
  start) start ;;
  stop) stop ;;
  *)
    echo "usage: engine.sh start|stop" >&2
    exit 64
    ;;
esac
