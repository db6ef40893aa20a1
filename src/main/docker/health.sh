#!/bin/sh
# health.sh [KIND [RANKS [LEAST]]]: checks a health endpoint (liveness if not given) of the ranks in this container, 1 if not given.
# Exits with 0 if at least LEAST of them (all if not given) answer 200 within seconds, else with 1. For one rank, starts a JVM only where the image has neither curl nor wget.
set -u

kind=${1:-liveness}
ranks=${2:-1}
least=${3:-$ranks}

unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY
# The certificate is not verified: the server is in this container, and the request has no secret.
if [ "$ranks" = 1 ] && command -v curl >/dev/null 2>&1; then
  answers() { curl -m 2 -fsSk -o /dev/null "$1"; }
elif [ "$ranks" = 1 ] && command -v wget >/dev/null 2>&1; then
  # BusyBox may lack the option for the time.
  answers() { timeout 2 wget -q --no-check-certificate -O /dev/null "$1"; }
else
  exec java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData -cp /app/tutti.jar \
    io.tutti.probe.HealthProbe "$kind" "$ranks" "$least"
fi

case ${TUTTI_HTTP_ADDRESS:-} in
  "" | 0.0.0.0) host=127.0.0.1 ;;
  ::) host="[::1]" ;;
  *:*) host="[$TUTTI_HTTP_ADDRESS]" ;;
  *) host=$TUTTI_HTTP_ADDRESS ;;
esac
path=$host:${MANAGEMENT_SERVER_PORT:-${TUTTI_HTTP_PORT:-8080}}/actuator/health/$kind
# A port of HTTPS refuses plain HTTP.
if plain=$(answers "http://$path" 2>&1) || secured=$(answers "https://$path" 2>&1); then
  exit 0
fi
echo "health: $path does not answer 200: over HTTP: $plain; over HTTPS: $secured" >&2
exit 1
