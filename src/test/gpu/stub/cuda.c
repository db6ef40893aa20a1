/* A driver with one device. */
int cuInit(unsigned flags) { return flags; }
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) { *active = device == 0; return *flags = 0; }
int cuDeviceGetCount(int *count) { *count = 1; return 0; }
