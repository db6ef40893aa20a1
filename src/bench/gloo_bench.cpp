// Collectives of Gloo over its TCP transport on the loopback interface, timed by the rule in mpi_bench.c, whose lines it prints.
// Build: g++ -std=c++17 -O3 -march=native -o gloo_bench gloo_bench.cpp -lgloo -lpthread
// usage: gloo_bench RANKS core|none COLLECTIVE[,COLLECTIVE...] BYTES[,BYTES...] BUDGET_MS SAMPLES WARMUP
// Starts its ranks itself, and with `core` binds each to a core of its own if there are enough. The variant names Gloo's algorithm:
//   tcp, tcp-ring, tcp-bcube            new-style calls on unbound buffers
//   tcp-hd, tcp-ring-chunked, tcp-bound class based algorithms on bound buffers
//   tcp-hd-busy-poll, ...-busy-poll     the same with Pair::setSync(true, busyPoll = true), up to 1 MiB and if there are enough cores
#include <gloo/allgather.h>
#include <gloo/allgather_ring.h>
#include <gloo/allreduce.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/alltoall.h>
#include <gloo/barrier.h>
#include <gloo/barrier_all_to_all.h>
#include <gloo/broadcast.h>
#include <gloo/broadcast_one_to_all.h>
#include <gloo/config.h>
#include <gloo/gather.h>
#include <gloo/reduce.h>
#include <gloo/reduce_scatter.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/rendezvous/prefix_store.h>
#include <gloo/scatter.h>
#include <gloo/transport/buffer.h>
#include <gloo/transport/pair.h>
#include <gloo/transport/tcp/device.h>

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

using Call = std::function<void(int)>;
using Pairs = std::shared_ptr<gloo::Context>;
using Algorithm = gloo::AllreduceOptions::Algorithm;

static const size_t SMALL_BYTES = 65536;
static const size_t BOUND_BYTES = 64u << 20;  // bound buffers take more memory than is sensible above
static const size_t POLL_BYTES = 1u << 20;
static const double WARM_UP_US = 500e3;
static const int VARIETY = 97;  // of operands; a prime, so that misplaced elements have wrong values
static int rank_, n;
static float *a, *b;  // the full buffer, and the other one where a call takes two
static float sums[VARIETY];  // of all ranks' operands, which repeat after as many elements
static double budgetUs;
static int samples_, warmup_;
static cpu_set_t allowed;
static Pairs ctx, old, poll_;  // plain; for bound buffers; the same, polling

static double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}
static void sum3(void* c_, const void* x_, const void* y_, size_t k) {
  float* c = (float*)c_;
  const float *x = (const float*)x_, *y = (const float*)y_;
  for (size_t i = 0; i < k; i++) c[i] = x[i] + y[i];
}
static void sum2(float* x, const float* y, size_t k) {
  for (size_t i = 0; i < k; i++) x[i] += y[i];
}
static gloo::ReductionFunction<float> boundSum(gloo::CUSTOM, &sum2);

static std::shared_ptr<gloo::Context> connect(gloo::rendezvous::Store& store, const char* prefix) {
  gloo::transport::tcp::attr at("127.0.0.1");
  auto c = std::make_shared<gloo::rendezvous::Context>(rank_, n);
  gloo::rendezvous::PrefixStore ps(prefix, store);
  auto device = gloo::transport::tcp::CreateDevice(at);
  c->connectFullMesh(ps, device);
  return c;
}
static void controlBarrier() {
  gloo::BarrierOptions o(ctx);
  o.setTag(1000);
  gloo::barrier(o);
}
static double fromRank0(double v) {
  gloo::BroadcastOptions o(ctx);
  o.setRoot(0);
  o.setTag(1001);
  o.setOutput(&v, 1);
  gloo::broadcast(o);
  return v;
}
static std::vector<double> everyRanks(double* v, int k) {
  std::vector<double> all(k * n);
  gloo::AllgatherOptions o(ctx);
  o.setTag(1002);
  o.setInput(v, k);
  o.setOutput(all.data(), k * n);
  gloo::allgather(o);
  return all;
}

static bool rooted(const std::string& c) { return c == "reduce" || c == "broadcast" || c == "gather" || c == "scatter"; }
static bool cut(const std::string& c) {
  return c == "all-gather" || c == "reduce-scatter" || c == "gather" || c == "scatter" || c == "all-to-all";
}
static float operand(int r, size_t i) { return (float)(1 + (31 * (size_t)r + 7 * i) % VARIETY); }
// One call from or to root 0 on known operands; how many elements of all ranks' results are wrong.
static double check(const std::string& c, size_t count, bool inPlace, const Call& one) {
  size_t part = count / n, length = count;
  for (size_t i = 0; i < count; i++) a[i] = operand(rank_, i);
  controlBarrier();
  one(0);
  if (c == "barrier" || ((c == "reduce" || c == "gather") && rank_ != 0)) length = 0;
  if (c == "reduce-scatter" || c == "scatter") length = part;
  double wrong = 0, all = 0;
  for (size_t i = 0; i < length; i++) {
    float want = c == "broadcast" ? operand(0, i)
        : c == "all-gather" || c == "gather" ? operand((int)(i / part), i % part)
        : c == "reduce-scatter" ? sums[(rank_ * part + i) % VARIETY]
        : c == "scatter" ? operand(0, rank_ * part + i)
        : c == "all-to-all" ? operand((int)(i / part), rank_ * part + i % part)
        : c == "send-receive" ? operand((rank_ + n - 1) % n, i) : sums[i % VARIETY];
    wrong += (inPlace ? a : b)[i] != want;
  }
  for (double w : everyRanks(&wrong, 1)) all += w;
  return all;
}
// Warms up and returns how many samples fit into the budget. Rank 0 decides both, so that every rank makes as many calls.
static int plan(const std::function<void()>& calls) {
  double start = now();
  do calls();
  while (fromRank0(now() - start < WARM_UP_US));
  controlBarrier();
  start = now();
  for (int i = 0; i < 3; i++) calls();
  return (int)fromRank0(std::min(4000.0, std::max(5.0, budgetUs / ((now() - start) / 3 + 1e-3))));
}
static void measure(const std::string& variant, const std::string& c, size_t count, bool inPlace, const Call& one) {
  size_t bytes = count * sizeof(float);
  double wrong = check(c, count, inPlace, one);
  memset(a, 0, bytes);
  memset(b, 0, bytes);
  int batch = bytes < SMALL_BYTES ? std::max(16, n) : rooted(c) ? n : 1;
  auto calls = [&] { for (int i = 0; i < batch; i++) one(i); };
  int samples = samples_ ? samples_ : plan(calls);
  for (int i = 0, w = warmup_ ? warmup_ : samples / 10; i < w; i++) calls();
  std::vector<double> t(samples);
  controlBarrier();
  for (double& s : t) {
    double before = now();
    calls();
    s = (now() - before) / batch;
  }
  std::sort(t.begin(), t.end());
  double mine[3] = {t[samples / 2], t[0], t[samples - 1]}, slowest[3] = {0, 0, 0};
  controlBarrier();
  auto all = everyRanks(mine, 3);
  for (size_t i = 0; i < all.size(); i++) slowest[i % 3] = std::max(slowest[i % 3], all[i]);
  wrong += check(c, count, inPlace, one);
  if (rank_ == 0) {
    printf("R\tgloo-%d.%d.%d\t%s\t%s\t%d\t%zu\t%.3f\t%.3f\t%.3f\t%d\t%.0f\n", GLOO_VERSION_MAJOR, GLOO_VERSION_MINOR,
           GLOO_VERSION_PATCH, variant.c_str(), c.c_str(), n, bytes, slowest[0], slowest[1], slowest[2], samples, wrong);
    fflush(stdout);
  }
}

static void allReduceNew(const char* variant, Algorithm algorithm, size_t count) {
  gloo::AllreduceOptions o(ctx);
  o.setAlgorithm(algorithm);
  o.setOutput(a, count);
  o.setReduceFunction(sum3);
  o.setTag(1);
  measure(variant, "all-reduce", count, true, [&](int) { gloo::allreduce(o); });
}
// Measures a call on bound buffers over blocking pairs, and at the sizes where it can be faster over polling ones.
static void bound(const std::string& variant, const std::string& c, size_t count, bool inPlace, const std::function<Call(Pairs)>& bind) {
  for (const Pairs& pairs : {old, poll_}) {
    if (pairs == poll_ && (count * sizeof(float) > POLL_BYTES || CPU_COUNT(&allowed) < n)) return;
    Call one = bind(pairs);
    controlBarrier();
    measure(pairs == poll_ ? variant + "-busy-poll" : variant, c, count, inPlace, one);
  }
}
// A call of a class based algorithm.
template <class A, class... Arguments>
static Call runs(Arguments... arguments) {
  auto algorithm = std::make_shared<A>(arguments...);
  return [=](int) { algorithm->run(); };
}
static void allReduce(size_t count) {
  allReduceNew("tcp-ring", Algorithm::RING, count);
  allReduceNew("tcp-bcube", Algorithm::BCUBE, count);
  if (count * sizeof(float) > BOUND_BYTES) return;
  std::vector<float*> buffers{a};
  bound("tcp-hd", "all-reduce", count, true,
        [&](Pairs p) { return runs<gloo::AllreduceHalvingDoubling<float>>(p, buffers, (int)count, &boundSum); });
  Call ring = runs<gloo::AllreduceRingChunked<float>>(old, buffers, (int)count, &boundSum);
  controlBarrier();
  measure("tcp-ring-chunked", "all-reduce", count, true, ring);
}
static void barrier() {
  gloo::BarrierOptions o(ctx);
  o.setTag(5);
  measure("tcp", "barrier", 0, true, [&](int) { gloo::barrier(o); });
  bound("tcp-bound", "barrier", 0, true, [](Pairs p) { return runs<gloo::BarrierAllToAll>(p); });
}
// A receiver tells the sender when it may write into the bound buffer, as in Gloo's own algorithms.
static Call sendReceive(const Pairs& pairs, size_t count) {
  using Buffer = std::shared_ptr<gloo::transport::Buffer>;
  auto &to = pairs->getPair((rank_ + 1) % n), &from = pairs->getPair((rank_ + n - 1) % n);
  int slot = pairs->nextSlot(2);
  static char ready;
  Buffer out = to->createSendBuffer(slot, a, count * sizeof(float)), in = from->createRecvBuffer(slot, b, count * sizeof(float));
  Buffer tell = from->createSendBuffer(slot + 1, &ready, 1), told = to->createRecvBuffer(slot + 1, &ready, 1);
  return [=](int) {
    tell->send();
    told->waitRecv();
    out->send();
    in->waitRecv();
    out->waitSend();
  };
}
// An options object for each root, made once: making one is no part of a call.
template <class O>
static std::vector<std::unique_ptr<O>> forEachRoot(uint32_t tag, const std::function<void(O&, int)>& fill) {
  std::vector<std::unique_ptr<O>> v;
  for (int r = 0; r < n; r++) {
    v.emplace_back(new O(ctx));
    v[r]->setRoot(r);
    v[r]->setTag(tag);
    fill(*v[r], r);
  }
  return v;
}
static void run(const std::string& c, size_t count) {
  size_t part = count / n;
  if (c == "all-reduce") {
    allReduce(count);
  } else if (c == "broadcast") {
    auto v = forEachRoot<gloo::BroadcastOptions>(10, [&](auto& o, int) { o.setOutput(a, count); });
    measure("tcp", c, count, true, [&](int i) { gloo::broadcast(*v[i % n]); });
    bound("tcp-bound", c, count, true, [&](Pairs p) -> Call {
      std::vector<Call> roots;
      for (int r = 0; r < n; r++) roots.push_back(runs<gloo::BroadcastOneToAll<float>>(p, std::vector<float*>{a}, count, r));
      return [=](int i) { roots[i % n](i); };
    });
  } else if (c == "reduce") {
    auto v = forEachRoot<gloo::ReduceOptions>(13, [&](auto& o, int) {
      o.setInput(a, count);
      o.setOutput(b, count);
      o.setReduceFunction(sum3);
    });
    measure("tcp", c, count, false, [&](int i) { gloo::reduce(*v[i % n]); });
  } else if (c == "gather") {
    auto v = forEachRoot<gloo::GatherOptions>(14, [&](auto& o, int root) {
      o.setInput(a, part);
      if (root == rank_) o.setOutput(b, count);
    });
    measure("tcp", c, count, false, [&](int i) { gloo::gather(*v[i % n]); });
  } else if (c == "scatter") {
    std::vector<float*> parts;
    for (int r = 0; r < n; r++) parts.push_back(a + r * part);
    auto v = forEachRoot<gloo::ScatterOptions>(15, [&](auto& o, int root) {
      if (root == rank_) o.setInputs(parts, part);
      o.setOutput(b, part);
    });
    measure("tcp", c, count, false, [&](int i) { gloo::scatter(*v[i % n]); });
  } else if (c == "all-gather") {
    gloo::AllgatherOptions o(ctx);
    o.setTag(11);
    o.setInput(a, part);
    o.setOutput(b, count);
    measure("tcp", c, count, false, [&](int) { gloo::allgather(o); });
    if (n > 1 && count * sizeof(float) <= BOUND_BYTES)
      bound("tcp-ring", c, count, false,
            [&](Pairs p) { return runs<gloo::AllgatherRing<float>>(p, std::vector<const float*>{a}, b, (int)part); });
  } else if (c == "all-to-all") {
    gloo::AlltoallOptions o(ctx);
    o.setTag(12);
    o.setInput(a, count);
    o.setOutput(b, count);
    measure("tcp", c, count, false, [&](int) { gloo::alltoall(o); });
  } else if (c == "reduce-scatter") {
    std::vector<int> counts(n, (int)part);
    bound("tcp-hd", c, count, true, [&](Pairs p) {
      return runs<gloo::ReduceScatterHalvingDoubling<float>>(p, std::vector<float*>{a}, (int)count, counts, &boundSum);
    });
  } else if (c == "send-receive") {
    auto out = ctx->createUnboundBuffer(a, count * sizeof(float)), in = ctx->createUnboundBuffer(b, count * sizeof(float));
    measure("tcp", c, count, false, [&](int) {
      in->recv((rank_ + n - 1) % n, 20);
      out->send((rank_ + 1) % n, 20);
      out->waitSend();
      in->waitRecv();
    });
    bound("tcp-bound", c, count, false, [&](Pairs p) { return sendReceive(p, count); });
  } else if (c == "barrier") {
    barrier();
  } else if (rank_ == 0) {
    fprintf(stderr, "no collective %s here\n", c.c_str());
  }
}
static std::vector<std::string> split(const char* list) {
  std::vector<std::string> v;
  std::stringstream in(list);
  for (std::string s; std::getline(in, s, ',');) v.push_back(s);
  return v;
}
static float* buffer(size_t bytes) {
  size_t pages = (bytes + 4095) / 4096 * 4096;
  float* p = (float*)aligned_alloc(4096, pages);
  if (!p) {
    fprintf(stderr, "no memory for a buffer of %zu bytes\n", pages);
    _exit(4);
  }
  memset(p, 0, pages);
  return p;
}
static void pin() {
  cpu_set_t mine;
  for (int core = 0, k = 0; core < CPU_SETSIZE && CPU_COUNT(&allowed) >= n; core++) {
    if (!CPU_ISSET(core, &allowed) || k++ != rank_) continue;
    CPU_ZERO(&mine);
    CPU_SET(core, &mine);
    sched_setaffinity(0, sizeof mine, &mine);
    return;
  }
}
static void rankMain(const std::string& directory, char** argv) {
  auto collectives = split(argv[3]);
  std::vector<size_t> sizes;
  size_t largest = sizeof(float) * n;
  for (auto& s : split(argv[4])) {
    sizes.push_back(strtoull(s.c_str(), nullptr, 10));
    largest = std::max(largest, sizes.back());
  }
  budgetUs = atof(argv[5]) * 1e3;
  samples_ = atoi(argv[6]);
  warmup_ = atoi(argv[7]);
  gloo::rendezvous::FileStore store(directory);
  ctx = connect(store, "c0");
  old = connect(store, "c1");
  poll_ = connect(store, "c2");
  if (!strcmp(argv[2], "core")) pin();  // after the connections, whose threads would inherit the core of this one
  a = buffer(largest);
  b = buffer(largest);
  for (int r = 0; r < n; r++)
    if (r != rank_) poll_->getPair(r)->setSync(true, true);
  for (auto& c : collectives) {
    size_t unit = sizeof(float) * (cut(c) ? n : 1), last = 0;
    if (c == "barrier") run(c, 0);
    else for (size_t s : sizes) {
      size_t count = std::max<size_t>(1, s / unit) * unit / sizeof(float);
      if (count != last) run(c, count);  // sizes may be rounded to the same one
      last = count;
    }
  }
  controlBarrier();
  fflush(stdout);
  _exit(0);
}
int main(int argc, char** argv) {
  if (argc != 8 || (n = atoi(argv[1])) < 1) {
    fprintf(stderr, "usage: gloo_bench RANKS core|none COLLECTIVES SIZES BUDGET_MS SAMPLES WARMUP\n");
    return 2;
  }
  for (int i = 0; i < VARIETY * n; i++) sums[i % VARIETY] += operand(i / VARIETY, i % VARIETY);
  if (sched_getaffinity(0, sizeof allowed, &allowed)) CPU_ZERO(&allowed);
  char directory[] = "/tmp/gloo_bench.XXXXXX";
  if (!mkdtemp(directory)) {
    perror(directory);
    return 4;
  }
  std::vector<pid_t> ranks;
  for (rank_ = 0; rank_ < n; rank_++) {
    pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      try {
        rankMain(directory, argv);
      } catch (const std::exception& e) {
        fprintf(stderr, "rank %d: %s\n", rank_, e.what());
        _exit(3);
      }
    }
    if (child < 0) {
      perror("error: fork");
      break;
    }
    ranks.push_back(child);
  }
  int failed = 0;
  auto stop = [&](int code) {  // the other ranks would wait for the one that failed
    failed = code;
    for (pid_t p : ranks) kill(p, SIGKILL);
  };
  if (ranks.size() < (size_t)n) stop(4);
  for (int status; wait(&status) > 0;) {
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (code && !failed) stop(code);
  }
  std::filesystem::remove_all(directory);
  return failed;
}
