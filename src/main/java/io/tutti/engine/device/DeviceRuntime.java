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

	/**
	 * {@return the number of devices visible to this process}
	 */
	int deviceCount();

	/**
	 * {@return the device that this thread has selected}
	 */
	int currentDevice();

	/**
	 * Selects a device for this thread. This and any call that needs the selected device
	 * may allocate some hundred megabytes on it, unless the process uses it already.
	 * @param device the device, from 0
	 */
	void selectDevice(int device);

	/**
	 * Whether this process uses a device; allocates nothing there.
	 * @param device the device, from 0
	 * @return whether this process uses the device
	 */
	boolean isInUse(int device);

	/**
	 * Allocates memory on the selected device; {@code bytes} is at least 1.
	 * @param bytes size in bytes, at least 1
	 * @return the address
	 */
	long allocate(long bytes);

	/**
	 * Frees device memory.
	 * @param address result of {@link #allocate}
	 */
	void free(long address);

	/**
	 * Allocates page-locked host memory, which a device accesses by DMA.
	 * @param bytes size in bytes, at least 1
	 * @return the address
	 */
	long allocatePinned(long bytes);

	/**
	 * Frees pinned memory.
	 * @param address result of {@link #allocatePinned}
	 */
	void freePinned(long address);

	/** Result of {@link #deviceOf} for host memory. */
	int NO_DEVICE = -1;

	/**
	 * The device whose memory contains an address, or {@link #NO_DEVICE}.
	 * @param address the address
	 * @return the device, or {@link #NO_DEVICE}
	 */
	int deviceOf(long address);

	/**
	 * Queues a copy on a stream between any two kinds of memory and returns at once.
	 * @param target address to write
	 * @param source address to read
	 * @param bytes number of bytes
	 * @param stream handle of a stream
	 */
	void copy(long target, long source, long bytes, long stream);

	/**
	 * Creates a stream on the selected device that does not synchronize with the default
	 * stream.
	 * @return its handle
	 */
	long createStream();

	/**
	 * Destroys a stream; work queued on it still completes.
	 * @param stream handle of a stream
	 */
	void destroyStream(long stream);

	/**
	 * Whether all work queued on a stream is complete.
	 * @param stream handle of a stream
	 * @return whether all work queued on a stream is complete
	 */
	boolean isIdle(long stream);

}
