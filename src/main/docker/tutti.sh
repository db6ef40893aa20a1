#!/bin/sh
# Runs a command of Tutti inside its image.
# Of the environment: TUTTI_VECTORS (true or false: reduce with the vector module, which takes
# longer to start), TUTTI_JAVA_OPTS (more flags for the JVM, split at blanks) and TUTTI_STOP_SIGNAL (what the program gets
# when the container shall stop: TERM, or KILL for a rank that leaves a group which continues without it).
# TUTTI_CACHE_FLAGS belongs to the build of the image.
set -eu

case ${TUTTI_VECTORS:-true} in
  true) kernels="--add-modules jdk.incubator.vector" cache=/app/vector.aot ;;
  false) kernels="" cache=/app/scalar.aot ;;
  *)
    echo "tutti: TUTTI_VECTORS must be true or false, got '$TUTTI_VECTORS'" >&2
    exit 64
    ;;
esac

stop=${TUTTI_STOP_SIGNAL:-TERM}
case $stop in
  TERM | KILL) ;;
  *)
    echo "tutti: TUTTI_STOP_SIGNAL must be TERM or KILL, got '$stop'" >&2
    exit 64
    ;;
esac

# Becomes the given program, except as the first process of a container, which adopts orphans such as a health check past
# its time limit: a JVM would leave them as zombies. This shell stays there, reaps them, passes signals on and exits with
# the program's code.
run() {
  if [ $$ != 1 ]; then
    exec "$@"
  fi
  program="" early="" passed="" code=""
  # A shell starts background programs with SIGINT ignored.
  trap 'pass "$stop"' TERM INT HUP
  trap 'pass QUIT' QUIT
  "$@" <&0 &
  program=$!
  if [ -n "$early" ]; then
    kill "-$early" "$program"
  fi
  # A signal ends `wait`, perhaps together with the program.
  while :; do
    passed="" before=$code code=0
    wait "$program" || code=$?
    if [ "$code" = 127 ] && [ -n "$before" ]; then
      exit "$before"
    fi
    [ -n "$passed" ] || exit "$code"
  done
}

pass() {
  if [ -z "$program" ]; then
    early=$1
    return
  fi
  passed=yes
  kill "-$1" "$program" 2>/dev/null || true
}

# The launcher waits only; it starts each rank with this script.
if [ "${1:-}" = launch ]; then
  run java -XX:TieredStopAtLevel=1 -Xmx64m --enable-native-access=ALL-UNNAMED -Dstdout.encoding=UTF-8 \
    -Dstderr.encoding=UTF-8 -XX:+UseSerialGC -XX:-UsePerfData -XX:+ExitOnOutOfMemoryError \
    -Dtutti.script=/app/tutti.sh -jar /app/tutti.jar "$@"
fi

# The server wants a folder for itself: under a read-only root with no /tmp, shared memory can be written.
# Tried, since a shell may look at the folder's mode alone.
temporary=/dev/shm
if probe=$(mktemp /tmp/.tutti-XXXXXX 2>/dev/null); then
  rm -f "$probe"
  temporary=/tmp
fi

# The native libraries beside the jar are loaded where they lie: nothing is unpacked, so nothing is written. They come
# before what the JVM's library path holds by default.
library_path=/app/natives:${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}/usr/java/packages/lib:/usr/lib64:/lib64:/lib:/usr/lib

# shellcheck disable=SC2086
run java $kernels ${TUTTI_CACHE_FLAGS:--XX:AOTCache=$cache} --enable-native-access=ALL-UNNAMED \
  --add-opens java.base/sun.nio.ch=ALL-UNNAMED -Dstdout.encoding=UTF-8 -Dstderr.encoding=UTF-8 -XX:+UseSerialGC \
  -XX:-UsePerfData -XX:+ExitOnOutOfMemoryError -Djava.io.tmpdir=$temporary \
  -Djava.library.path="$library_path" -Xlog:aot*=off \
  ${TUTTI_JAVA_OPTS:-} -jar /app/tutti.jar "$@"
