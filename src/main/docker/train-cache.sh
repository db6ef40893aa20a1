#!/bin/sh
# Fills the caches of loaded and linked classes, while the image is built: for each kind of kernels, two ranks train
# together, answer the requests of a cluster and measure, and the JVM of rank 0 records that. Fails where the native
# libraries cannot be loaded.
set -eu

export WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29500

rehearse() {
  RANK=$1 LOCAL_RANK=$1 TUTTI_CACHE_FLAGS=$2 sh /app/tutti.sh rehearse
}

# The ranks with scalar kernels are recorded as `./tutti` does it: without the optimizing compiler, so that later ranks do
# not spend their start compiling with it what the recorded ones have compiled.
fill() {
  export TUTTI_VECTORS=$1 TUTTI_JAVA_OPTS=$3
  rehearse 1 -XX:AOTMode=off &
  other=$!
  rehearse 0 "-XX:AOTCacheOutput=/cache/$2.aot"
  wait "$other"
  [ -s "/cache/$2.aot" ]
}

mkdir /cache
fill false scalar -XX:TieredStopAtLevel=1
fill true vector ""
