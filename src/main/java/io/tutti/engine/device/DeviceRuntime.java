package io.tutti.engine.device;

/**
 * What is needed of a GPU's runtime. Safe for any number of threads; the selected device
 * is each thread's own. Addresses are in one space: device memory, pinned and plain host
 * memory can be told apart by the runtime. Streams are by handle, {@link #DEFAULT_STREAM}
 * included. Every method throws a {@link DeviceException} where the runtime refuses.
 */
public interface DeviceRuntime {

	/** The stream that belongs to nobody. */
	long DEFAULT_STREAM = 0;

	/** How many devices this process may use. */
	int deviceCount();

	/** The device that this thread has selected. */
	int currentDevice();

	/** Selects a device for this thread. */
	void selectDevice(int device);

	/** Allocates memory of the selected device; never of 0 bytes. */
	long allocate(long bytes);

	/** Gives device memory back. */
	void free(long address);

	/** Allocates host memory from which a device copies by itself. */
	long allocatePinned(long bytes);

	/** Gives pinned memory back. */
	void freePinned(long address);

	/** In place of a device: main memory. */
	int NO_DEVICE = -1;

	/** In which device's memory an address lies, {@link #NO_DEVICE} if in none. */
	int deviceOf(long address);

	/** Queues a copy between any two kinds of memory on a stream, and returns. */
	void copy(long target, long source, long bytes, long stream);

	/**
	 * Makes a stream on the selected device that does not wait for the default stream.
	 */
	long createStream();

	/** Gives a stream back; what is queued on it is still carried out. */
	void destroyStream(long stream);

	/** Whether everything queued on a stream is done. */
	boolean isIdle(long stream);

}
