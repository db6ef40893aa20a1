#!/usr/bin/env bash
# Four ranks under a steady load of HTTP requests: load.sh mix (while they train) or load.sh barriers (while they idle).
# SECONDS_OF_LOAD (60) and HTTP_PORT (18480, of rank 0) can be set.
set -euo pipefail
cd "$(dirname "$0")/../../.."

what=${1:?mix or barriers}
seconds=${SECONDS_OF_LOAD:-60}
port=${HTTP_PORT:-18480}
java=$(command -v "${JAVA_HOME:-$(ls -d /usr/lib/jvm/*25* | head -1)}/bin/java")
log=$(mktemp)

case $what in
  mix) command=(train --epochs 100000) ;;
  barriers) command=(serve) ;;
  *) echo "mix or barriers, not $what" >&2; exit 64 ;;
esac

./tutti launch -n 4 --http-port "$port" "${command[@]}" >"$log" 2>&1 &
launcher=$!
trap 'kill "$launcher" 2>/dev/null || true; wait "$launcher" 2>/dev/null || true; rm -f "$log"' EXIT

for rank in 0 1 2 3; do
  for try in $(seq 120); do
    curl -sf -o /dev/null "http://127.0.0.1:$((port + rank))/actuator/health/readiness" && continue 2
    kill -0 "$launcher" 2>/dev/null || { cat "$log" >&2; exit 1; }
    sleep 1
  done
  echo "rank $rank was not ready in time" >&2; tail -20 "$log" >&2; exit 1
done

"$java" src/test/load/HttpLoad.java "$port" "$what" "$seconds" "$launcher"
