package io.tutti.engine.device;

/**
 * The calls needed from a GPU runtime. Thread-safe; each thread has its own selected
 * device. All addresses share one address space, in which the runtime distinguishes
 * device memory, pinned host memory and plain host memory. A stream is a handle,
 * including {@link #DEFAULT_STREAM}. Objects for the same devices are equal. Every method
 * throws a {@link DeviceException} if the runtime fails.
 */
public interface DeviceRuntime {

	/** Handle of the default stream. */
	long DEFAULT_STREAM = 0;

	/** Number of devices visible to this process. */
	int deviceCount();

	/** The device that this thread has selected. */
	int currentDevice();

	/** Selects a device for this thread. */
	void selectDevice(int device);

	/** Allocates memory on the selected device; {@code bytes} is at least 1. */
	long allocate(long bytes);

	/** Frees device memory. */
	void free(long address);

	/** Allocates page-locked host memory, which a device accesses by DMA. */
	long allocatePinned(long bytes);

	/** Frees pinned memory. */
	void freePinned(long address);

	/** Result of {@link #deviceOf} for host memory. */
	int NO_DEVICE = -1;

	/** The device whose memory contains an address, or {@link #NO_DEVICE}. */
	int deviceOf(long address);

	/** Queues a copy on a stream between any two kinds of memory and returns at once. */
	void copy(long target, long source, long bytes, long stream);

	/**
	 * Creates a stream on the selected device that does not synchronize with the default
	 * stream.
	 */
	long createStream();

	/** Destroys a stream; work queued on it still completes. */
	void destroyStream(long stream);

	/** Whether all work queued on a stream is complete. */
	boolean isIdle(long stream);

}
