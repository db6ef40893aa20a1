#!/usr/bin/env bash
# Packs what the tests tagged "gpu" need into one archive for a machine with a GPU and no network:
# a Java runtime, the jars and the native bindings. CUDA and NCCL are that machine's own.
#   src/test/gpu/pack.sh [archive]      then there:  tar xf gpu-tests.tar.xz && gpu-tests/run.sh
set -euo pipefail
cd "$(dirname "$0")/../../.."
archive=$(realpath -m "${1:-target/gpu-tests.tar.xz}")
limit_bytes=$((64 * 1024 * 1024))
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pack=$work/gpu-tests

./mvnw -q -B test-compile dependency:build-classpath -DincludeScope=test -Dmdep.outputFile="$work/classpath" >&2
tr ':' '\n' < "$work/classpath" > "$work/jars"
jar_named() { grep -E "/$1" "$work/jars" | head -1; }

console_version=$(jar_named 'junit-platform-engine-[0-9.]+\.jar' | sed -E 's/.*engine-(.*)\.jar/\1/')
./mvnw -q -B dependency:copy -DoutputDirectory="$work" \
  -Dartifact="org.junit.platform:junit-platform-console-standalone:$console_version" >&2

mkdir -p "$pack/jars" "$pack/classes" "$pack/tests" "$pack/natives"
cp "$work/junit-platform-console-standalone-$console_version.jar" "$pack/console.jar"
for name in 'jspecify-[0-9]' 'javacpp-[0-9.]+\.jar' 'cuda-[0-9.-]+\.jar' 'assertj-core-' 'byte-buddy-[0-9]'; do
  cp "$(jar_named "$name")" "$pack/jars/"
done
(cd target/classes && cp -r --parents io/tutti/*.class io/tutti/engine "$pack/classes/")
(cd target/test-classes && cp -r --parents io/tutti/*.class io/tutti/engine "$pack/tests/")

# The bindings alone: of 33 MB only two libraries are used.
unzip -q -o "$(jar_named 'cuda-.*-linux-x86_64\.jar')" '*/libjnicudart.so' '*/libjninccl.so' -d "$pack/natives"
unzip -q -o "$(jar_named 'javacpp-.*-linux-x86_64\.jar')" '*/libjnijavacpp.so' -d "$pack/natives"

java_home=${JAVA_HOME_25:-$(ls -d /usr/lib/jvm/*25* 2> /dev/null | head -1)}
[ -x "$java_home/bin/jlink" ] || { echo "no JDK 25 found: set JAVA_HOME_25" >&2; exit 1; }
"$java_home/bin/jlink" --output "$pack/java" --strip-debug --no-header-files --no-man-pages --compress zip-0 \
  --add-modules java.base,java.logging,java.management,java.net.http,java.xml,java.instrument,jdk.unsupported,jdk.net
find "$pack/java" -name '*.so' -exec strip --strip-unneeded {} + 2>/dev/null || true

cp src/test/gpu/run.sh "$pack/run.sh"
# Without a driver every test is skipped, but one that lacks a class fails.
"$pack/java/bin/java" -Dtutti.gpu.driver=none -cp "$pack/console.jar:$pack/classes:$pack/tests:$(echo "$pack"/jars/*.jar | tr ' ' ':')" \
  org.junit.platform.console.ConsoleLauncher execute --disable-banner --include-tag=gpu \
  --select-package=io.tutti.engine.backend.nccl > "$work/trial" 2>&1 || {
  cat "$work/trial" >&2
  echo "the packed tests do not start" >&2
  exit 1
}
tar -C "$work" -cf - gpu-tests | xz -6 -T0 > "$archive"
size=$(stat -c %s "$archive")
echo "$archive: $((size / 1024)) KiB"
[ "$size" -le "$limit_bytes" ] || { echo "more than 64 MiB: it must fit beside what else is carried" >&2; exit 1; }
