package io.tutti.engine.backend.nccl;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.function.LongToDoubleFunction;

import io.tutti.engine.device.DeviceBuffer;
import io.tutti.engine.device.DeviceDataType;
import io.tutti.engine.device.DeviceRuntime;
import io.tutti.engine.device.SelectedDevice;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.transport.IdleStrategy;

/**
 * Encodes small numbers as elements of any type and copies them to and from a real
 * device.
 */
final class GpuElements {

	private static final int FLOAT32_BIAS = 127;

	private GpuElements() {
	}

	/** Encodes elements as bytes. */
	static byte[] of(DeviceDataType type, long count, LongToDoubleFunction value) {
		byte[] bytes = new byte[Math.toIntExact(count * type.bytes())];
		for (int index = 0; index < count; index++) {
			byte[] element = element(type, value.applyAsDouble(index));
			System.arraycopy(element, 0, bytes, index * type.bytes(), type.bytes());
		}
		return bytes;
	}

	private static byte[] element(DeviceDataType type, double value) {
		return switch (type) {
			case INT8, UINT8 -> new byte[] { (byte) value };
			case FLOAT8_E4M3 -> new byte[] { float8((float) value, 3, 7) };
			case FLOAT8_E5M2 -> new byte[] { float8((float) value, 2, 15) };
			case FLOAT32, FLOAT64, FLOAT16, BFLOAT16 -> new DeviceReduction.PremultipliedSum(value).as(type);
			case INT32, INT64, UINT32, UINT64 -> new DeviceReduction.PremultipliedSum((long) value).as(type);
		};
	}

	/** A positive normal number that the type holds exactly, or 0. */
	private static byte float8(float value, int fractionBits, int bias) {
		int shifted = Float.floatToIntBits(value) >>> 23 - fractionBits;
		return (byte) ((value == 0) ? 0 : shifted - (FLOAT32_BIAS - bias << fractionBits));
	}

	/** Copies elements to a new buffer on device 0. */
	static DeviceBuffer upload(DeviceRuntime runtime, DeviceDataType type, byte[] elements) {
		DeviceBuffer buffer = DeviceBuffer.allocate(runtime, 0, elements.length / type.bytes(), type);
		copy(runtime, elements.length, (pinned) -> {
			MemorySegment.copy(elements, 0, pinned, ValueLayout.JAVA_BYTE, 0, elements.length);
			runtime.copy(buffer.address(), pinned.address(), elements.length, DeviceRuntime.DEFAULT_STREAM);
		}, (pinned) -> {
		});
		return buffer;
	}

	/** Copies the content of a buffer on device 0 to the host. */
	static byte[] download(DeviceRuntime runtime, DeviceBuffer buffer) {
		byte[] elements = new byte[Math.toIntExact(buffer.bytes())];
		copy(runtime, elements.length,
				(pinned) -> runtime.copy(pinned.address(), buffer.address(), elements.length,
						DeviceRuntime.DEFAULT_STREAM),
				(pinned) -> MemorySegment.copy(pinned, ValueLayout.JAVA_BYTE, 0, elements, 0, elements.length));
		return elements;
	}

	private interface WithMemory {

		void use(MemorySegment pinned);

	}

	@SuppressWarnings("restricted") // pinned memory of that size
	private static void copy(DeviceRuntime runtime, int bytes, WithMemory queue, WithMemory done) {
		try (SelectedDevice _ = SelectedDevice.select(runtime, 0)) {
			long pinned = runtime.allocatePinned(Math.max(1, bytes));
			try {
				MemorySegment memory = MemorySegment.ofAddress(pinned).reinterpret(bytes);
				queue.use(memory);
				awaitIdle(runtime, DeviceRuntime.DEFAULT_STREAM);
				done.use(memory);
			}
			finally {
				runtime.freePinned(pinned);
			}
		}
	}

	/** Waits for a stream of device 0. */
	static void awaitIdle(DeviceRuntime runtime, long stream) {
		if (!IdleStrategy.await(() -> runtime.isIdle(stream), Deadline.after(Duration.ofSeconds(60)))) {
			throw new AssertionError("the device was not idle within 60 s");
		}
	}

}
