#!/usr/bin/env bash
# Runs the packed tests on this machine's GPU and prints pass or fail for each. Ends with 64 where there is no GPU
# or no NCCL, and says what is missing.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

# CUDA and NCCL often lie inside Python packages, where no linker looks.
library() { find / -name "$1" -not -path '/proc/*' 2>/dev/null | head -1; }
options=(--enable-native-access=ALL-UNNAMED --add-opens=java.base/sun.nio.ch=ALL-UNNAMED
  -Dorg.bytedeco.javacpp.maxPhysicalBytes=0 "-Dorg.bytedeco.javacpp.cachedir=${TMPDIR:-/tmp}/tutti-gpu-cache")
for pair in nccl=libnccl.so.2 cudart=libcudart.so.13; do
  file=${pair#*=}
  if ! ldconfig -p 2>/dev/null | grep -q "$file" && found=$(library "$file") && [ -n "$found" ]; then
    options+=("-Dtutti.gpu.${pair%%=*}=$found")
    export LD_LIBRARY_PATH="$(dirname "$found")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  fi
done

classpath=$here/classes:$here/tests:$here/natives:$(echo "$here"/jars/*.jar | tr ' ' ':')
command -v nvidia-smi > /dev/null && nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader || true
"$here/java/bin/java" "${options[@]}" -cp "$classpath" io.tutti.engine.backend.nccl.Gpu || {
  code=$?
  echo "nothing was tested: there is no GPU to test on"
  exit "$code"
}
exec "$here/java/bin/java" "${options[@]}" -cp "$here/console.jar:$classpath" \
  org.junit.platform.console.ConsoleLauncher execute --disable-banner --details=tree --include-tag=gpu \
  --select-package=io.tutti.engine.backend.nccl "$@"
