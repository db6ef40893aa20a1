package io.tutti.engine.device;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongConsumer;

import org.jspecify.annotations.Nullable;

/**
 * Elements in one device's memory. Either allocated here, and then given back when it is
 * closed, or wrapped around memory that belongs to somebody else.
 */
public final class DeviceBuffer implements AutoCloseable {

	private static final LongConsumer NOT_OURS = (address) -> {
	};

	private final int device;

	private final long address;

	private final long count;

	private final DeviceDataType type;

	private final LongConsumer release;

	/** What this is a part of, {@code null} if of nothing. */
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

	/** Allocates on a device; what it holds is undefined. */
	public static DeviceBuffer allocate(DeviceRuntime runtime, int device, long count, DeviceDataType type) {
		requireCount(count, type);
		long bytes = count * type.bytes();
		try (SelectedDevice _ = SelectedDevice.select(runtime, device)) {
			return owned(device, runtime.allocate(Math.max(1, bytes)), count, type, runtime::free);
		}
	}

	/**
	 * Takes memory over, to be given back in the caller's way when the buffer is closed.
	 */
	public static DeviceBuffer owned(int device, long address, long count, DeviceDataType type, LongConsumer release) {
		return new DeviceBuffer(device, address, count, type, release, null);
	}

	/** Wraps memory that belongs to somebody else and must outlive the buffer's use. */
	public static DeviceBuffer wrap(int device, long address, long count, DeviceDataType type) {
		return new DeviceBuffer(device, address, count, type, NOT_OURS, null);
	}

	/**
	 * Some of these elements, in the same memory; usable until this buffer is closed.
	 * @param first the first of them
	 * @param length how many
	 */
	public DeviceBuffer part(long first, long length) {
		if (first < 0 || length < 0 || first > this.count - length) {
			throw new IllegalArgumentException(
					"a part must lie in 0.." + this.count + ", got " + length + " elements from " + first);
		}
		return new DeviceBuffer(this.device, address() + first * this.type.bytes(), length, this.type, NOT_OURS, this);
	}

	/**
	 * Refuses a count of elements whose bytes cannot be counted.
	 */
	public static void requireCount(long count, DeviceDataType type) {
		if (count < 0 || count > Long.MAX_VALUE / type.bytes()) {
			throw new IllegalArgumentException(
					"count must be in 0.." + Long.MAX_VALUE / type.bytes() + ", got " + count);
		}
	}

	/** Which device's memory. */
	public int device() {
		return this.device;
	}

	/**
	 * Address of the first element.
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

	/** How many elements. */
	public long count() {
		return this.count;
	}

	/** Their type. */
	public DeviceDataType type() {
		return this.type;
	}

	/** Size in bytes. */
	public long bytes() {
		return this.count * this.type.bytes();
	}

	/**
	 * The memory as a segment, to be handed on and never to be read or written from the
	 * host.
	 */
	@SuppressWarnings("restricted") // an address with a size, which nothing here follows
	MemorySegment segment() {
		return MemorySegment.ofAddress(address()).reinterpret(bytes());
	}

	/** Gives the memory back if it was allocated here. Does nothing the second time. */
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
