/* A driver with one device. */
int cuInit(unsigned flags) { return flags; }
int cuDeviceGetCount(int *count) { *count = 1; return 0; }
