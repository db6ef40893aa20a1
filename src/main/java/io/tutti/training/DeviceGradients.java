package io.tutti.training;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.Work;
import io.tutti.engine.device.DeviceBuffer;
import io.tutti.engine.device.DeviceCollectives;
import io.tutti.engine.device.DeviceDataType;
import io.tutti.engine.device.DeviceRuntime;
import io.tutti.engine.device.SelectedDevice;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.transport.IdleStrategy;
import org.jspecify.annotations.Nullable;

/**
 * Gradient memory of parameters on a GPU. Gradients are reduced in place, without a copy
 * through main memory if the group's backend supports device memory. Each copy and
 * reduction first waits for all work queued on the device, on every stream.
 */
final class DeviceGradients implements GradientMemory {

	/**
	 * Time limit of a copy of a few numbers, including other work queued on the stream.
	 */
	private static final Duration COPYING = Duration.ofSeconds(60);

	private final ProcessGroup group;

	private final DeviceCollectives collectives;

	private final DeviceRuntime runtime;

	private final int device;

	private final Runnable computed;

	private final Arena arena = Arena.ofShared();

	private final List<DeviceBuffer> buffers = new ArrayList<>();

	/**
	 * @param collectives device collectives of the group
	 * @param computed waits until all work queued on the device is done
	 */
	DeviceGradients(ProcessGroup group, DeviceCollectives collectives, int device, Runnable computed) {
		this.group = group;
		this.collectives = collectives;
		this.runtime = collectives.runtime();
		this.device = device;
		this.computed = computed;
	}

	@Override
	public boolean prefersPacked() {
		return true;
	}

	@Override
	public boolean overlaps(int coresPerRank) {
		return this.group.takesDeviceMemory();
	}

	@Override
	public MemorySegment allocate(long bytes) {
		DeviceBuffer buffer = DeviceBuffer.allocate(this.runtime, this.device, bytes, DeviceDataType.UINT8);
		this.buffers.add(buffer);
		return segment(buffer.address(), bytes);
	}

	@SuppressWarnings("restricted") // the host never dereferences the address
	private static MemorySegment segment(long address, long bytes) {
		return MemorySegment.ofAddress(address).reinterpret(bytes);
	}

	@Override
	public MemorySegment onHost(MemorySegment numbers) {
		return this.arena.allocate(numbers.byteSize(), Float.BYTES);
	}

	@Override
	public void send(MemorySegment onHost, MemorySegment numbers) {
		copy(numbers, onHost);
	}

	@Override
	public void fetch(MemorySegment numbers, MemorySegment onHost) {
		copy(onHost, numbers);
	}

	private void copy(MemorySegment target, MemorySegment source) {
		if (target.byteSize() == 0) {
			return;
		}
		this.computed.run();
		try (SelectedDevice _ = SelectedDevice.select(this.runtime, this.device)) {
			this.runtime.copy(target.address(), source.address(), source.byteSize(), DeviceRuntime.DEFAULT_STREAM);
			if (!IdleStrategy.await(() -> this.runtime.isIdle(DeviceRuntime.DEFAULT_STREAM), Deadline.after(COPYING))) {
				throw new IllegalStateException("a copy between main memory and device " + this.device
						+ " was interrupted or not done within " + COPYING);
			}
		}
	}

	@Override
	public void allReduce(List<MemorySegment> buffers, DataType type, ReduceOp op) {
		this.computed.run();
		buffers.forEach((buffer) -> this.collectives.allReduceInPlace(DeviceBuffer.wrap(this.device, buffer.address(),
				buffer.byteSize() / type.bytes(), DeviceDataType.of(type)), op));
	}

	/** Synchronous if the group's backend does not support device memory. */
	@Override
	public @Nullable Work<Void> allReduceAsync(List<MemorySegment> buffers, DataType type, ReduceOp op) {
		if (!this.group.takesDeviceMemory()) {
			allReduce(buffers, type, op);
			return null;
		}
		this.computed.run();
		return this.group.allReduceAsync(buffers, type, op);
	}

	@Override
	public void close() {
		this.computed.run();
		this.buffers.forEach(DeviceBuffer::close);
		this.arena.close();
	}

}
