/* LD_PRELOAD shim: every TCP socket gets the congestion control named in BENCH_CC (e.g. cubic), so that systems which
 * offer no such option can be measured with it. Build: gcc -shared -fPIC -O2 -o cc_shim.so cc_shim.c -ldl */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
int socket(int d, int t, int p) {
  static int (*real)(int, int, int);
  if (!real) real = (int (*)(int, int, int))dlsym(RTLD_NEXT, "socket");
  int fd = real(d, t, p);
  const char *cc = getenv("BENCH_CC");
  if (fd >= 0 && cc && (d == AF_INET || d == AF_INET6) && (t & 0xf) == SOCK_STREAM)
    setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, cc, strlen(cc));
  return fd;
}
