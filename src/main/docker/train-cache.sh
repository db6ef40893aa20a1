#!/bin/sh
# Fills the caches of loaded and linked classes, while the image is built: for each kind of kernels, two ranks train
# together, answer the requests of a cluster and measure, and the JVM of rank 0 records that. Rank 1 only takes part, with
# scalar kernels, which start sooner. Fails where the native libraries cannot be loaded.
set -eu

export WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29500

rehearse() {
  RANK=$1 LOCAL_RANK=$1 TUTTI_CACHE_FLAGS=$2 TUTTI_VECTORS=$3 TUTTI_JAVA_OPTS=$4 sh /app/tutti.sh rehearse
}

# Records one cache: whether with vector kernels, name, JVM flags of the recorded rank, cache flag of the other rank.
fill() {
  rehearse 1 "$4" false "$first_tier" &
  other=$!
  rehearse 0 "-XX:AOTCacheOutput=/cache/$2.aot" "$1" "$3"
  wait "$other"
  [ -s "/cache/$2.aot" ]
}

# Ranks with scalar kernels are recorded as `./tutti` does it: without the optimizing compiler, so that later ranks do not
# spend their start compiling with it what the recorded ones have compiled.
first_tier=-XX:TieredStopAtLevel=1
mkdir /cache
fill false scalar "$first_tier" -XX:AOTMode=off
fill true vector "" -XX:AOTCache=/cache/scalar.aot
