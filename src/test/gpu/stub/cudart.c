/* A CUDA runtime whose device memory is main memory and whose streams are always done. */
#include <stdlib.h>
#include <string.h>

enum { OK = 0, INVALID = 1, NO_MEMORY = 2, BAD_DEVICE = 101, DEVICE_MEMORY = 2 };

struct attributes { int type; int device; void *device_pointer; void *host_pointer; long reserved[8]; };

int cudaGetDeviceCount(int *count) { *count = 1; return OK; }
int cudaGetDevice(int *device) { *device = 0; return OK; }
int cudaSetDevice(int device) { return device == 0 ? OK : BAD_DEVICE; }
int cudaMalloc(void **memory, size_t bytes) { *memory = malloc(bytes); return *memory ? OK : NO_MEMORY; }
int cudaFree(void *memory) { free(memory); return OK; }
int cudaMallocHost(void **memory, size_t bytes) { return cudaMalloc(memory, bytes); }
int cudaFreeHost(void *memory) { return cudaFree(memory); }
int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream)
{
    memmove(to, from, bytes);
    return kind == 4 ? OK : INVALID;
}
int cudaStreamCreateWithFlags(void **stream, unsigned flags) { *stream = malloc(8); return flags == 1 ? OK : INVALID; }
int cudaStreamDestroy(void *stream) { free(stream); return OK; }
int cudaStreamQuery(void *stream) { return OK; }
static int last;
int cudaGetLastError(void) { int error = last; last = OK; return error; }
const char *cudaGetErrorString(int error) { return "an error of the stub"; }
/* Memory at an address below the first page has that error. */
int cudaPointerGetAttributes(struct attributes *attributes, const void *memory)
{
    if ((size_t) memory < 4096)
        return last = (int) (size_t) memory;
    attributes->type = DEVICE_MEMORY;
    attributes->device = 0;
    return OK;
}
