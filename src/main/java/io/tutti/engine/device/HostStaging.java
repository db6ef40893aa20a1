package io.tutti.engine.device;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import io.tutti.Collective;
import io.tutti.CollectiveException;
import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.transport.IdleStrategy;

/**
 * Collectives on device memory through pinned staging buffers in host memory. The chunks
 * are pipelined: one chunk is copied from the device while the collective on the previous
 * chunk runs. Where a buffer holds one part per rank, a chunk is the same range of every
 * part. All ranks use the same chunk boundaries, because they agree on the part size.
 */
final class HostStaging implements AutoCloseable {

	/** Large enough for copies and collectives at full speed, small enough to pin. */
	static final long CHUNK_BYTES = 4 << 20;

	/** Staging buffers for one chunk, and its copies and collective in progress. */
	private final class Slot {

		private final long send;

		private final long receive;

		private final long stream;

		private long offset;

		private long bytes;

		private CompletableFuture<Void> collective = CompletableFuture.completedFuture(null);

		Slot(long sendBytes, long receiveBytes) {
			this.send = pinned(sendBytes);
			this.receive = pinned(receiveBytes);
			this.stream = HostStaging.this.runtime.createStream();
			HostStaging.this.releases.add(() -> HostStaging.this.runtime.destroyStream(this.stream));
		}

		MemorySegment sent(Layout layout) {
			return segment(this.send, layout.sendParts() * this.bytes);
		}

		MemorySegment received(Layout layout) {
			return segment(this.receive, layout.receiveParts() * this.bytes);
		}

	}

	/**
	 * A call on device memory.
	 *
	 * @param collective the collective
	 * @param send buffer that is read
	 * @param receive buffer that is written
	 * @param type the elements' type in host memory
	 * @param op operator, ignored by collectives without a reduction
	 * @param root root, ignored by collectives without one
	 */
	record Staged(Collective collective, DeviceBuffer send, DeviceBuffer receive, DataType type, ReduceOp op,
			int root) {
	}

	/** Number of parts that this rank sends and receives, and bytes per part. */
	private record Layout(int sendParts, int receiveParts, long partBytes) {
	}

	private final ProcessGroup group;

	private final DeviceRuntime runtime;

	private final SelectedDevice selected;

	private final List<Runnable> releases = new ArrayList<>();

	private final List<CompletableFuture<Void>> started = new ArrayList<>();

	HostStaging(ProcessGroup group, DeviceRuntime runtime, int device) {
		this.group = group;
		this.runtime = runtime;
		this.selected = SelectedDevice.select(runtime, device);
	}

	/** Runs a call; its result is in device memory on return. */
	void run(Staged call, Deadline deadline) {
		Layout layout = layout(call);
		int parts = Math.max(1, this.group.worldSize());
		long element = call.type().bytes();
		long chunk = Math.max(element, CHUNK_BYTES / parts / element * element);
		long largest = Math.min(chunk, layout.partBytes());
		Slot[] slots = { slot(layout, largest), (layout.partBytes() > chunk) ? slot(layout, largest) : null };
		Slot previous = null;
		long offset = 0;
		for (int index = 0; offset < layout.partBytes() || index == 0; index++) {
			Slot slot = slots[index % 2];
			awaitCopies(slot, deadline);
			slot.offset = offset;
			slot.bytes = Math.min(chunk, layout.partBytes() - offset);
			copyIn(call, layout, slot);
			awaitCopies(slot, deadline);
			if (previous != null) {
				finish(call, layout, previous);
			}
			start(call, layout, slot, deadline);
			previous = slot;
			offset += slot.bytes;
			if (slot.bytes == 0) {
				break;
			}
		}
		finish(call, layout, previous);
		for (Slot slot : slots) {
			if (slot != null) {
				awaitCopies(slot, deadline);
			}
		}
	}

	private Layout layout(Staged call) {
		int all = this.group.worldSize();
		boolean root = this.group.rank() == call.root();
		long send = call.send().bytes();
		long receive = call.receive().bytes();
		return switch (call.collective()) {
			case ALL_REDUCE, SCAN, EXCLUSIVE_SCAN -> new Layout(1, 1, send);
			case REDUCE -> new Layout(1, root ? 1 : 0, send);
			case BROADCAST -> new Layout(root ? 1 : 0, 1, receive);
			case ALL_GATHER -> new Layout(1, all, send);
			case REDUCE_SCATTER -> new Layout(all, 1, receive);
			case GATHER -> new Layout(1, root ? all : 0, send);
			case SCATTER -> new Layout(root ? all : 0, 1, receive);
			case ALL_TO_ALL -> new Layout(all, all, send / all);
			case BARRIER -> throw new IllegalArgumentException("a barrier has no buffer");
		};
	}

	private Slot slot(Layout layout, long partBytes) {
		boolean inPlace = layout.sendParts() <= 1 && layout.receiveParts() <= 1;
		long sendBytes = (inPlace ? 1 : layout.sendParts()) * partBytes;
		return new Slot(sendBytes, layout.receiveParts() * partBytes);
	}

	private long pinned(long bytes) {
		long address = this.runtime.allocatePinned(Math.max(1, bytes));
		this.releases.add(() -> this.runtime.freePinned(address));
		return address;
	}

	@SuppressWarnings("restricted") // pinned memory of at least that size
	private static MemorySegment segment(long address, long bytes) {
		return MemorySegment.ofAddress(address).reinterpret(bytes);
	}

	private void copyIn(Staged call, Layout layout, Slot slot) {
		for (int part = 0; part < layout.sendParts(); part++) {
			this.runtime.copy(slot.send + part * slot.bytes,
					call.send().address() + part * layout.partBytes() + slot.offset, slot.bytes, slot.stream);
		}
	}

	/** Works in place in the send staging buffer where both sides have one part. */
	private void start(Staged call, Layout layout, Slot slot, Deadline deadline) {
		ProcessGroup limited = this.group.withTimeout(deadline.remaining().plusNanos(1));
		MemorySegment whole = segment(slot.send, slot.bytes);
		MemorySegment sent = slot.sent(layout);
		MemorySegment received = slot.received(layout);
		DataType type = call.type();
		int root = call.root();
		slot.collective = CompletableFuture.runAsync(() -> {
			switch (call.collective()) {
				case ALL_REDUCE -> limited.allReduce(whole, type, call.op());
				case BROADCAST -> limited.broadcast(whole, type, root);
				case REDUCE -> limited.reduce(whole, whole, type, call.op(), root);
				case ALL_GATHER -> limited.allGather(sent, received, type);
				case REDUCE_SCATTER -> limited.reduceScatter(sent, received, type, call.op());
				case GATHER -> limited.gather(sent, received, type, root);
				case SCATTER -> limited.scatter(sent, received, type, root);
				case ALL_TO_ALL -> limited.allToAll(sent, received, type);
				case BARRIER -> limited.barrier();
				case SCAN, EXCLUSIVE_SCAN -> throw DeviceCollectives.notOnDevice(call.collective());
			}
		}, (task) -> Thread.ofPlatform().daemon().name("tutti-r" + this.group.rank() + "-staging").start(task));
		this.started.add(slot.collective);
	}

	private void finish(Staged call, Layout layout, Slot slot) {
		join(slot.collective);
		boolean inPlace = switch (call.collective()) {
			case ALL_REDUCE, BROADCAST, REDUCE, SCAN, EXCLUSIVE_SCAN -> true;
			case ALL_GATHER, REDUCE_SCATTER, GATHER, SCATTER, ALL_TO_ALL, BARRIER -> false;
		};
		long from = inPlace ? slot.send : slot.receive;
		for (int part = 0; part < layout.receiveParts(); part++) {
			this.runtime.copy(call.receive().address() + part * layout.partBytes() + slot.offset,
					from + part * slot.bytes, slot.bytes, slot.stream);
		}
	}

	private static void join(CompletableFuture<Void> collective) {
		try {
			collective.join();
		}
		catch (CompletionException ex) {
			throw (ex.getCause() instanceof RuntimeException cause) ? cause : ex;
		}
	}

	private void awaitCopies(Slot slot, Deadline deadline) {
		if (!IdleStrategy.await(() -> this.runtime.isIdle(slot.stream), deadline)) {
			this.group
				.abort("copies between device and host were not done within " + deadline.timeout().toMillis() + " ms");
			throw CollectiveException.of(this.group.rank(), this.group.worldSize(),
					Objects.requireNonNull(this.group.failure()), null);
		}
	}

	/** Waits for running collectives, which still use the staging buffers. */
	@Override
	public void close() {
		this.started.forEach((collective) -> collective.handle((_, _) -> true).join());
		this.releases.reversed().forEach(Runnable::run);
		this.selected.close();
	}

}
