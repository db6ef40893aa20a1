#!/bin/sh
# base-image.sh IMAGE JAVA_HOME: makes a base image from this machine's own files, for places where
# no registry can be reached: a Java runtime, the C library that it needs, and busybox for a shell.
set -eu

image=${1:?usage: base-image.sh IMAGE JAVA_HOME}
java=${2:?usage: base-image.sh IMAGE JAVA_HOME}
docker=/usr/bin/docker
modules=java.se,jdk.crypto.cryptoki,jdk.httpserver,jdk.incubator.vector,jdk.jcmd,jdk.jfr,jdk.management
modules=$modules,jdk.management.agent,jdk.naming.dns,jdk.net,jdk.nio.mapmode,jdk.unsupported,jdk.zipfs
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

for folder in bin etc/ssl/certs tmp root proc sys dev run var/tmp usr/bin usr/share lib/x86_64-linux-gnu lib64 opt/java; do
  mkdir -p "$root/$folder"
done
chmod 1777 "$root/tmp" "$root/var/tmp"

cp "$(command -v busybox)" "$root/bin/busybox"
for applet in $("$root/bin/busybox" --list); do
  [ "$applet" = busybox ] || ln -s busybox "$root/bin/$applet"
done
ln -s /bin/env "$root/usr/bin/env"

for library in libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1 libresolv.so.2 libnss_files.so.2 \
  libnss_dns.so.2 libz.so.1 libgcc_s.so.1 libstdc++.so.6; do
  for folder in /lib/x86_64-linux-gnu /usr/lib/x86_64-linux-gnu; do
    [ ! -e "$folder/$library" ] || cp -L "$folder/$library" "$root/lib/x86_64-linux-gnu/"
  done
done
cp -L /lib64/ld-linux-x86-64.so.2 "$root/lib64/"

echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
echo 'root:x:0:' >"$root/etc/group"
printf 'hosts: files dns\npasswd: files\ngroup: files\n' >"$root/etc/nsswitch.conf"
[ ! -e /etc/ssl/certs/ca-certificates.crt ] || cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
# A runtime without compilers, sources and debug symbols; with jcmd, for operators.
"$java/bin/jlink" --add-modules "$modules" --strip-debug --no-man-pages --no-header-files \
  --compress zip-6 --generate-cds-archive \
  --output "$root/opt/java/openjdk"
rm -f "$root/opt/java/openjdk/lib/server/classes_nocoops.jsa"

tar -C "$root" --owner=0 --group=0 -c . | "$docker" import \
  -c 'ENV JAVA_HOME=/opt/java/openjdk' \
  -c 'ENV PATH=/opt/java/openjdk/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' \
  -c 'ENV LANG=C.UTF-8' -c 'CMD ["sh"]' - "$image"
