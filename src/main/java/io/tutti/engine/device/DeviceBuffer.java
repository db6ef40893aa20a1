package io.tutti.engine.device;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongConsumer;

import org.jspecify.annotations.Nullable;

/**
 * Elements in the memory of one device. A buffer either owns its memory and frees it on
 * {@link #close()}, or wraps memory that the caller owns.
 */
public final class DeviceBuffer implements AutoCloseable {

	private static final LongConsumer NO_RELEASE = (address) -> {
	};

	private final int device;

	private final long address;

	private final long count;

	private final DeviceDataType type;

	private final LongConsumer release;

	/** The buffer that contains this one, or {@code null}. */
	private final @Nullable DeviceBuffer whole;

	private final AtomicBoolean closed = new AtomicBoolean();

	private DeviceBuffer(int device, long address, long count, DeviceDataType type, LongConsumer release,
			@Nullable DeviceBuffer whole) {
		requireCount(count, type);
		if (address == 0 && count > 0) {
			throw new IllegalArgumentException("a buffer of " + count + " elements has the address 0");
		}
		this.device = device;
		this.address = address;
		this.count = count;
		this.type = type;
		this.release = release;
		this.whole = whole;
	}

	/**
	 * Allocates a buffer on a device; its content is undefined.
	 * @param runtime runtime of the device
	 * @param device the device, from 0
	 * @param count number of elements
	 * @param type type of the elements
	 * @return the buffer, which the caller closes
	 */
	public static DeviceBuffer allocate(DeviceRuntime runtime, int device, long count, DeviceDataType type) {
		requireCount(count, type);
		long bytes = count * type.bytes();
		try (SelectedDevice _ = SelectedDevice.select(runtime, device)) {
			return owned(device, runtime.allocate(Math.max(1, bytes)), count, type,
					(address) -> free(runtime, device, address));
		}
	}

	private static void free(DeviceRuntime runtime, int device, long address) {
		try (SelectedDevice _ = SelectedDevice.select(runtime, device)) {
			runtime.free(address);
		}
	}

	/**
	 * Takes ownership of memory, which {@code release} frees when the buffer is closed.
	 * @param device the device, from 0
	 * @param address address of the first element
	 * @param count number of elements
	 * @param type type of the elements
	 * @param release frees the memory at the given address
	 * @return the buffer, which the caller closes
	 */
	public static DeviceBuffer owned(int device, long address, long count, DeviceDataType type, LongConsumer release) {
		return new DeviceBuffer(device, address, count, type, release, null);
	}

	/**
	 * Wraps memory that the caller owns and that must outlive the buffer.
	 * @param device the device, from 0
	 * @param address address of the first element
	 * @param count number of elements
	 * @param type type of the elements
	 * @return the buffer, which the caller closes
	 */
	public static DeviceBuffer wrap(int device, long address, long count, DeviceDataType type) {
		return new DeviceBuffer(device, address, count, type, NO_RELEASE, null);
	}

	/**
	 * A range of these elements in the same memory; usable until this buffer is closed.
	 * @param first index of the first element
	 * @param length number of elements
	 * @return the range; closing it frees nothing
	 */
	public DeviceBuffer part(long first, long length) {
		if (first < 0 || length < 0 || first > this.count - length) {
			throw new IllegalArgumentException(
					"a part must lie in 0.." + this.count + ", got " + length + " elements from " + first);
		}
		return new DeviceBuffer(this.device, address() + first * this.type.bytes(), length, this.type, NO_RELEASE,
				this);
	}

	/**
	 * Checks an element count.
	 * @param count number of elements
	 * @param type type of the elements
	 */
	public static void requireCount(long count, DeviceDataType type) {
		if (count < 0 || count > Long.MAX_VALUE / type.bytes()) {
			throw new IllegalArgumentException(
					"count must be in 0.." + Long.MAX_VALUE / type.bytes() + ", got " + count);
		}
	}

	/**
	 * Checks that a call may read this buffer and write another one.
	 * @param receive the buffer to write
	 * @throws IllegalArgumentException if their types or devices differ
	 */
	public void requireLike(DeviceBuffer receive) {
		if (this.type != receive.type || this.device != receive.device) {
			throw new IllegalArgumentException(
					"send and receive buffer must be of one type on one device, got " + this + " and " + receive);
		}
	}

	/**
	 * {@return the device whose memory this is}
	 */
	public int device() {
		return this.device;
	}

	/**
	 * {@return the address of the first element}
	 * @throws IllegalStateException if the buffer is closed
	 */
	public long address() {
		if (this.closed.get()) {
			throw new IllegalStateException("this device buffer is closed");
		}
		if (this.whole != null) {
			this.whole.address();
		}
		return this.address;
	}

	/**
	 * {@return the number of elements}
	 */
	public long count() {
		return this.count;
	}

	/**
	 * {@return type of the elements}
	 */
	public DeviceDataType type() {
		return this.type;
	}

	/**
	 * {@return size in bytes}
	 */
	public long bytes() {
		return this.count * this.type.bytes();
	}

	/**
	 * The memory as a segment, to be passed on; the host must not read or write it.
	 */
	@SuppressWarnings("restricted") // an address with a size, never dereferenced here
	MemorySegment segment() {
		return MemorySegment.ofAddress(address()).reinterpret(bytes());
	}

	/** Frees the memory if this buffer owns it. Later calls have no effect. */
	@Override
	public void close() {
		if (this.closed.compareAndSet(false, true)) {
			this.release.accept(this.address);
		}
	}

	@Override
	public String toString() {
		return this.count + " × " + this.type + " on device " + this.device;
	}

}
