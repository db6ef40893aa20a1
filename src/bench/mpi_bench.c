/* Collectives of any MPI, timed by the rule of Tutti's own benchmark. Build: mpicc -O3 -march=native -o mpi_bench mpi_bench.c
 * usage: mpi_bench VARIANT COLLECTIVE[,COLLECTIVE...] BYTES[,BYTES...] BUDGET_MS SAMPLES WARMUP
 * SAMPLES 0: as many as fill BUDGET_MS, 5 to 4000, after a warm-up of half a second; otherwise there is no warm-up but WARMUP.
 * WARMUP: batches of calls before the samples; 0: a tenth of the samples.
 * Prints a line per collective and size, times in us:
 *   R system variant collective ranks bytes p50 min max samples wrong        (separated by tabs)
 *
 * Timing rule: float32, sum, calls back to back with no barrier between. A sample is B calls / B: B = 16 below 64 KiB
 * (the number of ranks where that is more), else 1; collectives with a root take turns at it, so there B is at least the
 * number of ranks. Each rank takes p50/min/max over its samples; the largest over the ranks is printed.
 * BYTES is the full buffer of one rank (all-gather: output; reduce-scatter, all-to-all: input).
 */
#define _GNU_SOURCE
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ALL_REDUCE, REDUCE, BROADCAST, ALL_GATHER, REDUCE_SCATTER, GATHER, SCATTER, ALL_TO_ALL, BARRIER, SEND_RECEIVE, OPERATIONS };
static const char *names[] = { "all-reduce", "reduce", "broadcast", "all-gather", "reduce-scatter",
                               "gather", "scatter", "all-to-all", "barrier", "send-receive" };
enum { SMALL_BYTES = 65536, SMALL_BATCH = 16, MIN_SAMPLES = 5, MAX_SAMPLES = 4000, MAX_SIZES = 64, WARM_UP_US = 500000,
       VARIETY = 97 /* of operands; a prime, so that misplaced elements have wrong values */ };

static int rank, n;
static float *a, *b; /* the full buffer, and the other one where a call takes two */
static float sums[VARIETY]; /* of all ranks' operands, which repeat after as many elements */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}
static int ascending(const void *x, const void *y) {
  double d = *(const double *)x - *(const double *)y;
  return d < 0 ? -1 : d > 0;
}
static int rooted(int c) { return c == REDUCE || c == BROADCAST || c == GATHER || c == SCATTER; }
static int cut(int c) { return c == ALL_GATHER || c == REDUCE_SCATTER || c == GATHER || c == SCATTER || c == ALL_TO_ALL; }

static void one(int c, size_t count, int it) {
  int whole = (int)count, part = (int)(count / n), root = it % n;
  MPI_Comm w = MPI_COMM_WORLD;
  switch (c) {
    case ALL_REDUCE: MPI_Allreduce(MPI_IN_PLACE, a, whole, MPI_FLOAT, MPI_SUM, w); break;
    case REDUCE: MPI_Reduce(a, b, whole, MPI_FLOAT, MPI_SUM, root, w); break;
    case BROADCAST: MPI_Bcast(a, whole, MPI_FLOAT, root, w); break;
    case ALL_GATHER: MPI_Allgather(a, part, MPI_FLOAT, b, part, MPI_FLOAT, w); break;
    case REDUCE_SCATTER: MPI_Reduce_scatter_block(a, b, part, MPI_FLOAT, MPI_SUM, w); break;
    case GATHER: MPI_Gather(a, part, MPI_FLOAT, b, part, MPI_FLOAT, root, w); break;
    case SCATTER: MPI_Scatter(a, part, MPI_FLOAT, b, part, MPI_FLOAT, root, w); break;
    case ALL_TO_ALL: MPI_Alltoall(a, part, MPI_FLOAT, b, part, MPI_FLOAT, w); break;
    case BARRIER: MPI_Barrier(w); break;
    case SEND_RECEIVE:
      MPI_Sendrecv(a, whole, MPI_FLOAT, (rank + 1) % n, 0, b, whole, MPI_FLOAT, (rank + n - 1) % n, 0, w, MPI_STATUS_IGNORE);
      break;
  }
}

static float operand(int r, size_t i) { return (float)(1 + (31 * (size_t)r + 7 * i) % VARIETY); }
/* One call from or to root 0 on known operands; how many elements of all ranks' results are wrong. */
static long check(int c, size_t count) {
  size_t part = count / n, length = count;
  for (size_t i = 0; i < count; i++) a[i] = operand(rank, i);
  one(c, count, 0);
  if (c == BARRIER || ((c == REDUCE || c == GATHER) && rank != 0)) length = 0;
  if (c == REDUCE_SCATTER || c == SCATTER) length = part;
  const float *got = c == ALL_REDUCE || c == BROADCAST ? a : b;
  long wrong = 0, all = 0;
  for (size_t i = 0; i < length; i++) {
    float want = 0;
    switch (c) {
      case ALL_REDUCE: case REDUCE: want = sums[i % VARIETY]; break;
      case BROADCAST: want = operand(0, i); break;
      case ALL_GATHER: case GATHER: want = operand((int)(i / part), i % part); break;
      case REDUCE_SCATTER: want = sums[(rank * part + i) % VARIETY]; break;
      case SCATTER: want = operand(0, rank * part + i); break;
      case ALL_TO_ALL: want = operand((int)(i / part), rank * part + i % part); break;
      case SEND_RECEIVE: want = operand((rank + n - 1) % n, i); break;
    }
    wrong += got[i] != want;
  }
  MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  return all;
}
static void calls(int c, size_t count, int batch) {
  for (int i = 0; i < batch; i++) one(c, count, i);
}
/* Warms up and returns how many samples fit into the budget. Rank 0 decides both, so that every rank makes as many calls. */
static int plan(int c, size_t count, int batch, double budget_us) {
  double start = now();
  for (int more = 1; more;) {
    calls(c, count, batch);
    more = now() - start < WARM_UP_US;
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  start = now();
  for (int i = 0; i < 3; i++) calls(c, count, batch);
  double fit = budget_us / ((now() - start) / 3 + 1e-3);
  int samples = fit < MIN_SAMPLES ? MIN_SAMPLES : fit > MAX_SAMPLES ? MAX_SAMPLES : (int)fit;
  MPI_Bcast(&samples, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return samples;
}
static size_t elements(int c, size_t bytes) {
  size_t unit = sizeof(float) * (cut(c) ? n : 1);
  return c == BARRIER ? 0 : (bytes / unit ? bytes / unit : 1) * unit / sizeof(float);
}
static void measure(const char *variant, int c, size_t count, double budget_us, int samples, int warmup) {
  size_t bytes = count * sizeof(float);
  long wrong = check(c, count);
  memset(a, 0, bytes);
  memset(b, 0, bytes);
  int batch = bytes < SMALL_BYTES ? (n > SMALL_BATCH ? n : SMALL_BATCH) : rooted(c) ? n : 1;
  if (samples == 0) samples = plan(c, count, batch, budget_us);
  if (warmup == 0) warmup = samples / 10;
  for (int i = 0; i < warmup; i++) calls(c, count, batch);
  double *t = malloc(sizeof(double) * samples);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < samples; i++) {
    double before = now();
    calls(c, count, batch);
    t[i] = (now() - before) / batch;
  }
  qsort(t, samples, sizeof(double), ascending);
  double mine[3] = { t[samples / 2], t[0], t[samples - 1] }, slowest[3];
  free(t);
  MPI_Reduce(mine, slowest, 3, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  wrong += check(c, count);
  if (rank == 0) {
#if defined(OPEN_MPI)
    printf("R\topenmpi-%d.%d.%d", OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION);
#elif defined(MPICH_VERSION)
    printf("R\tmpich-%s", MPICH_VERSION);
#else
    printf("R\tmpi");
#endif
    printf("\t%s\t%s\t%d\t%zu\t%.3f\t%.3f\t%.3f\t%d\t%ld\n", variant, names[c], n, bytes, slowest[0], slowest[1],
           slowest[2], samples, wrong);
    fflush(stdout);
  }
}
static void *buffer(size_t bytes) {
  size_t pages = (bytes + 4095) / 4096 * 4096;
  void *p = aligned_alloc(4096, pages);
  if (!p) {
    fprintf(stderr, "no memory for a buffer of %zu bytes\n", pages);
    MPI_Abort(MPI_COMM_WORLD, 4);
  }
  memset(p, 0, pages);
  return p;
}
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  if (argc != 7) {
    if (rank == 0) fprintf(stderr, "usage: mpi_bench VARIANT OPERATIONS SIZES BUDGET_MS SAMPLES WARMUP\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  size_t sizes[MAX_SIZES], largest = sizeof(float) * n;
  int k = 0;
  for (char *s = strtok(argv[3], ","); s && k < MAX_SIZES; s = strtok(NULL, ",")) {
    sizes[k] = strtoull(s, NULL, 10);
    if (sizes[k] / sizeof(float) > INT_MAX) {
      if (rank == 0) fprintf(stderr, "%s bytes are more elements than an MPI count holds\n", s);
      continue;
    }
    if (sizes[k] > largest) largest = sizes[k];
    k++;
  }
  for (int i = 0; i < VARIETY * n; i++) sums[i % VARIETY] += operand(i / VARIETY, i % VARIETY);
  a = buffer(largest);
  b = buffer(largest);
  for (char *s = strtok(argv[2], ","); s; s = strtok(NULL, ",")) {
    int c = 0;
    while (c < OPERATIONS && strcmp(s, names[c])) c++;
    if (c == OPERATIONS && rank == 0) fprintf(stderr, "no collective %s here\n", s);
    if (c == OPERATIONS) continue;
    for (int i = 0; i < k; i++)
      if (i == 0 || elements(c, sizes[i]) != elements(c, sizes[i - 1])) /* sizes may be rounded to the same one */
        measure(argv[1], c, elements(c, sizes[i]), atof(argv[4]) * 1e3, atoi(argv[5]), atoi(argv[6]));
  }
  MPI_Finalize();
  return 0;
}
