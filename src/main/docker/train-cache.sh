#!/bin/sh
# Fills the caches of loaded and linked classes, while the image is built: starts a rank for
# each kind of kernels, asks it what a cluster asks, and stops it.
set -eu

probe() {
  java -cp /app/tutti.jar io.tutti.probe.HealthProbe "$1" 2>/dev/null
}

fill() {
  export TUTTI_VECTORS=$1
  TUTTI_CACHE_FLAGS="-XX:AOTMode=record -XX:AOTConfiguration=/tmp/$2.conf" \
    sh /app/tutti.sh serve &
  rank=$!
  tries=600
  until probe readiness; do
    tries=$((tries - 1))
    if [ "$tries" = 0 ] || ! kill -0 "$rank"; then
      echo "train-cache: the rank is not ready" >&2
      exit 1
    fi
    sleep 0.2
  done
  probe liveness
  java -cp /app/tutti.jar io.tutti.probe.GroupProbe 10 http://127.0.0.1:8080
  kill "$rank"
  wait "$rank"
  TUTTI_CACHE_FLAGS="-XX:AOTMode=create -XX:AOTConfiguration=/tmp/$2.conf -XX:AOTCache=/cache/$2.aot" sh /app/tutti.sh
}

mkdir /cache
fill false scalar
fill true vector
