/* An NCCL of one rank, for which every collective is a copy. Refuses a configuration that NCCL's initializer
   would not have made, and says what it got. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, INVALID = 4, IN_PROGRESS = 7, OWN_OPERATOR = 99 };

typedef struct { char bytes[128]; } unique_id;

typedef struct {
    size_t size;
    unsigned magic;
    unsigned version;
    int blocking, cga_cluster_size, min_ctas, max_ctas;
    const char *net_name;
    int split_share, traffic_class;
    const char *comm_name;
    int collnet_enable, cta_policy, shrink_share, nvls_ctas, channels_per_peer, nvlink_sched, graph_mode, rma_contexts;
} config;

static const int bytes_of[] = { 1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1 };

static float factor;
static const void *sent;
static void *awaited;

static int copy(const void *from, void *to, size_t count, int type)
{
    memmove(to, from, count * bytes_of[type]);
    return SUCCESS;
}

static int meet(size_t count, int type)
{
    if (sent && awaited) {
        copy(sent, awaited, count, type);
        sent = awaited = NULL;
    }
    return SUCCESS;
}

int ncclGetVersion(int *version) { *version = 22903; return SUCCESS; }
int ncclGetUniqueId(unique_id *id) { memset(id, 7, sizeof(*id)); return SUCCESS; }

int ncclCommInitRankConfig(void **comm, int ranks, unique_id id, int rank, config *c)
{
    int unset = c->cga_cluster_size == INT_MIN && c->min_ctas == INT_MIN && c->max_ctas == INT_MIN
        && c->split_share == INT_MIN && c->traffic_class == INT_MIN && c->collnet_enable == INT_MIN
        && c->cta_policy == INT_MIN && c->shrink_share == INT_MIN && c->nvls_ctas == INT_MIN
        && c->channels_per_peer == INT_MIN && c->nvlink_sched == INT_MIN && c->graph_mode == INT_MIN
        && c->rma_contexts == INT_MIN && !c->net_name && !c->comm_name;
    printf("init: rank %d of %d, id %d..%d, size %s, magic %x, version %u, blocking %d, the rest %s\n", rank, ranks,
           id.bytes[0], id.bytes[127], c->size == sizeof(config) ? "right" : "wrong", c->magic, c->version,
           c->blocking, unset ? "unset" : "set");
    fflush(stdout);
    *comm = malloc(8);
    return IN_PROGRESS;
}

int ncclCommSplit(void *comm, int color, int key, void **part, config *c)
{
    *part = color < 0 ? NULL : malloc(8);
    return c ? INVALID : SUCCESS;
}
int ncclCommFinalize(void *comm) { return SUCCESS; }
int ncclCommDestroy(void *comm) { free(comm); return SUCCESS; }
int ncclCommAbort(void *comm) { free(comm); return SUCCESS; }
int ncclCommGetAsyncError(void *comm, int *error) { *error = SUCCESS; return SUCCESS; }
int ncclCommUserRank(void *comm, int *rank) { *rank = 0; return SUCCESS; }
int ncclCommCount(void *comm, int *ranks) { *ranks = 1; return SUCCESS; }
int ncclCommRegister(void *comm, void *memory, size_t bytes, void **handle) { *handle = memory; return SUCCESS; }
int ncclCommDeregister(void *comm, void *handle) { return handle ? SUCCESS : INVALID; }
int ncclMemAlloc(void **memory, size_t bytes) { *memory = malloc(bytes); return SUCCESS; }
int ncclMemFree(void *memory) { free(memory); return SUCCESS; }
int ncclRedOpCreatePreMulSum(int *op, void *scalar, int type, int residence, void *comm)
{
    factor = *(float *) scalar;
    *op = OWN_OPERATOR;
    return residence == 1 ? SUCCESS : INVALID;
}
int ncclRedOpDestroy(int op, void *comm) { return op == OWN_OPERATOR ? SUCCESS : INVALID; }

int ncclAllReduce(const void *from, void *to, size_t count, int type, int op, void *comm, void *stream)
{
    copy(from, to, count, type);
    for (size_t i = 0; op == OWN_OPERATOR && i < count; i++)
        ((float *) to)[i] *= factor;
    return SUCCESS;
}
int ncclBroadcast(const void *from, void *to, size_t count, int type, int root, void *comm, void *stream)
{
    return copy(from, to, count, type);
}
int ncclReduce(const void *from, void *to, size_t count, int type, int op, int root, void *comm, void *stream)
{
    return copy(from, to, count, type);
}
int ncclAllGather(const void *from, void *to, size_t count, int type, void *comm, void *stream)
{
    return copy(from, to, count, type);
}
int ncclReduceScatter(const void *from, void *to, size_t count, int type, int op, void *comm, void *stream)
{
    return copy(from, to, count, type);
}
int ncclGather(const void *from, void *to, size_t count, int type, int root, void *comm, void *stream)
{
    return copy(from, to, count, type);
}
int ncclScatter(const void *from, void *to, size_t count, int type, int root, void *comm, void *stream)
{
    return copy(from, to, count, type);
}
int ncclAlltoAll(const void *from, void *to, size_t count, int type, void *comm, void *stream)
{
    return copy(from, to, count, type);
}
int ncclSend(const void *from, size_t count, int type, int peer, void *comm, void *stream)
{
    sent = from;
    return meet(count, type);
}
int ncclRecv(void *to, size_t count, int type, int peer, void *comm, void *stream)
{
    awaited = to;
    return meet(count, type);
}
int ncclGroupStart(void) { return SUCCESS; }
int ncclGroupEnd(void) { return SUCCESS; }
const char *ncclGetErrorString(int error) { return "an error of the stub"; }
const char *ncclGetLastError(void *comm) { return "the stub's last error"; }
