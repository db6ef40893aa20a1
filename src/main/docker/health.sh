#!/bin/sh
# health.sh [KIND [RANKS [LEAST]]]: checks a health endpoint (liveness if not given) of the ranks in this container, 1 if not given.
# The caller limits the time. Exits with 0 if at least LEAST of them (all if not given) answer 200, else with 1. Starts a JVM only where the image has neither curl nor wget.
set -u

kind=${1:-liveness}
ranks=${2:-1}
least=${3:-$ranks}
port=${MANAGEMENT_SERVER_PORT:-${TUTTI_HTTP_PORT:-8080}}
case ${TUTTI_HTTP_ADDRESS:-} in
  "" | 0.0.0.0) host=127.0.0.1 ;;
  ::) host="[::1]" ;;
  *:*) host="[$TUTTI_HTTP_ADDRESS]" ;;
  *) host=$TUTTI_HTTP_ADDRESS ;;
esac

unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY
# The certificate is not verified: the server is in this container, and the request has no secret.
if command -v curl >/dev/null 2>&1; then
  answers() { curl -fsSk -o /dev/null "$1"; }
elif command -v wget >/dev/null 2>&1; then
  answers() { wget -q --no-check-certificate -O /dev/null "$1"; }
else
  answers() {
    MANAGEMENT_SERVER_PORT=$rank_port java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData -cp /app/tutti.jar \
      io.tutti.probe.HealthProbe "$kind"
  }
fi

healthy=0
local_rank=0
while [ "$local_rank" -lt "$ranks" ]; do
  rank_port=$((port + local_rank))
  path=$host:$rank_port/actuator/health/$kind
  # A port of HTTPS refuses plain HTTP.
  if plain=$(answers "http://$path" 2>&1) || secured=$(answers "https://$path" 2>&1); then
    healthy=$((healthy + 1))
    [ "$healthy" -lt "$least" ] || exit 0
  else
    echo "health: $path does not answer 200: over HTTP: $plain; over HTTPS: $secured" >&2
  fi
  local_rank=$((local_rank + 1))
done
exit 1
