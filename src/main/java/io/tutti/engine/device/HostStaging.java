package io.tutti.engine.device;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

import io.tutti.Collective;
import io.tutti.CollectiveException;
import io.tutti.CollectiveListener;
import io.tutti.DataType;
import io.tutti.ExitCode;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.spi.CleanUp;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupStateException;
import io.tutti.engine.transport.IdleStrategy;

/**
 * Collectives on one device's memory through pinned staging buffers in host memory. The
 * chunks are pipelined: one chunk is copied from the device while the collective on the
 * previous chunk runs. Where a buffer holds one part per rank, a chunk is the same range
 * of every part. Each chunk is a call of the group. Before a call of several chunks the
 * ranks agree on the part size, since the chunks of one call could otherwise be combined
 * with other calls of that size.
 * <p>
 * The buffers are allocated by the first call, grow to at most four times
 * {@link #CHUNK_BYTES} (or one element per rank, if that is more), and are reused until
 * {@link #close()} or until a call fails. A buffer that a copy may still use after a
 * failure is not freed. Calls take turns.
 */
final class HostStaging implements AutoCloseable {

	/** Large enough for copies and collectives at full speed, small enough to pin. */
	static final long CHUNK_BYTES = 4 << 20;

	/** A copy of a chunk takes milliseconds on a device that works. */
	private static final Duration LAST_COPIES = Duration.ofSeconds(2);

	/** Pinned memory that grows on demand. */
	private final class PinnedBuffer {

		private long address;

		private long capacity;

		/** Content is lost if the buffer grows; no copy may use it. */
		void ensure(long bytes) {
			long needed = Math.max(1, bytes);
			if (needed > this.capacity) {
				free();
				this.address = HostStaging.this.runtime.allocatePinned(needed);
				this.capacity = needed;
			}
		}

		void free() {
			if (this.capacity > 0) {
				this.capacity = 0;
				HostStaging.this.runtime.freePinned(this.address);
			}
		}

		/** Leaves the memory to a copy, for good. */
		long abandon() {
			long abandoned = this.capacity;
			this.capacity = 0;
			return abandoned;
		}

	}

	/** Staging buffers for one chunk, and its copies and collective in progress. */
	private final class Slot {

		private final PinnedBuffer sendBuffer = new PinnedBuffer();

		private final PinnedBuffer receiveBuffer = new PinnedBuffer();

		private long stream = DeviceRuntime.DEFAULT_STREAM;

		private long offset;

		private long bytes;

		private CompletableFuture<Void> collective = CompletableFuture.completedFuture(null);

		/** Grows the buffers while no copy uses them. */
		void prepare(Layout layout, long partBytes) {
			this.sendBuffer.ensure((layout.inPlace() ? 1 : layout.sendParts()) * partBytes);
			if (!layout.inPlace()) {
				this.receiveBuffer.ensure(layout.receiveParts() * partBytes);
			}
			if (this.stream == DeviceRuntime.DEFAULT_STREAM) {
				this.stream = HostStaging.this.runtime.createStream();
			}
		}

		long send() {
			return this.sendBuffer.address;
		}

		long receive() {
			return this.receiveBuffer.address;
		}

		MemorySegment sent(Layout layout) {
			return segment(send(), layout.sendParts() * this.bytes);
		}

		MemorySegment received(Layout layout) {
			return segment(receive(), layout.receiveParts() * this.bytes);
		}

		/** Waits for the collective and the copies, which still use the buffers. */
		void release() {
			this.collective.handle((_, _) -> true).join();
			long opened = this.stream;
			this.stream = DeviceRuntime.DEFAULT_STREAM;
			if (opened != DeviceRuntime.DEFAULT_STREAM && !copiesEnd(opened)) {
				abandon();
			}
			CleanUp.runAll(List.of(() -> {
				if (opened != DeviceRuntime.DEFAULT_STREAM) {
					HostStaging.this.runtime.destroyStream(opened);
				}
			}, this.receiveBuffer::free, this.sendBuffer::free));
		}

		/** Waits also on an interrupted thread, whose status stays set. */
		private boolean copiesEnd(long opened) {
			boolean interrupted = Thread.interrupted();
			try {
				return IdleStrategy.await(() -> HostStaging.this.runtime.isIdle(opened), Deadline.after(LAST_COPIES));
			}
			catch (DeviceException ex) {
				return false;
			}
			finally {
				if (interrupted) {
					Thread.currentThread().interrupt();
				}
			}
		}

		private void abandon() {
			long bytes = this.sendBuffer.abandon() + this.receiveBuffer.abandon();
			HostStaging.this.listener.warn(bytes + " bytes of pinned memory are not freed, since the copies of a failed"
					+ " call on device " + HostStaging.this.device + " have not ended");
		}

	}

	/**
	 * A call on device memory.
	 *
	 * @param group the caller's view of the group
	 * @param collective the collective
	 * @param send buffer that is read
	 * @param receive buffer that is written
	 * @param type the elements' type in host memory
	 * @param op operator, ignored by collectives without a reduction
	 * @param root root, ignored by collectives without one
	 */
	record Staged(ProcessGroup group, Collective collective, DeviceBuffer send, DeviceBuffer receive, DataType type,
			ReduceOp op, int root) {
	}

	/**
	 * How a call uses the staging buffers.
	 *
	 * @param sendParts number of parts that this rank sends
	 * @param receiveParts number of parts that this rank receives
	 * @param partBytes bytes per part
	 * @param inPlace whether the send staging buffer also receives the result
	 */
	private record Layout(int sendParts, int receiveParts, long partBytes, boolean inPlace) {
	}

	private final ProcessGroup group;

	private final DeviceRuntime runtime;

	private final int device;

	private final CollectiveListener listener;

	/** Runs the collective on a chunk while the caller copies another. */
	private final ExecutorService collectives;

	/** Held by the one call that uses the buffers, and by their release. */
	private final ReentrantLock turn = new ReentrantLock(true);

	private final Slot even = new Slot();

	private final Slot odd = new Slot();

	private boolean closed;

	private HostStaging(ProcessGroup group, DeviceRuntime runtime, int device, CollectiveListener listener) {
		this.group = group;
		this.runtime = runtime;
		this.device = device;
		this.listener = listener;
		this.collectives = Executors.newSingleThreadExecutor(
				(task) -> Thread.ofPlatform().daemon().name("tutti-r" + group.rank() + "-staging").unstarted(task));
	}

	/**
	 * The group's staging for a device of this process; a closed one if the group is.
	 * @param listener receives warnings, if this is the first call
	 */
	static HostStaging of(ProcessGroup group, DeviceRuntime runtime, int device, CollectiveListener listener) {
		return group.shared(HostStaging.class, List.of(runtime, device),
				() -> new HostStaging(group, runtime, device, listener), HostStaging::close);
	}

	/**
	 * Runs a call; its result is in device memory on return.
	 * @throws GroupStateException if the group is closed
	 */
	void run(Staged call, Deadline deadline) {
		takeTurn(call, deadline);
		try (SelectedDevice _ = SelectedDevice.select(this.runtime, this.device)) {
			if (this.closed) {
				throw DeviceCollectives.ended(this.group, call.collective(), null);
			}
			try {
				runChunks(call, layout(call), deadline);
			}
			catch (RuntimeException | Error ex) {
				throw released(call, ex);
			}
		}
		finally {
			this.turn.unlock();
		}
	}

	private void takeTurn(Staged call, Deadline deadline) {
		try {
			if (!this.turn.tryLock(deadline.remainingNanos(), TimeUnit.NANOSECONDS)) {
				throw DeviceCollectives.broken(this.group, call.collective(), ExitCode.DEADLINE_PASSED,
						"the call waited behind another for " + deadline.timeout().toMillis() + " ms", null);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw DeviceCollectives.broken(this.group, call.collective(), ExitCode.PEER_LOST,
					"the calling thread was interrupted while the call waited its turn", ex);
		}
	}

	/**
	 * Frees the memory after a failure. One that is neither that of the group, nor its
	 * end on this rank, nor that of an argument breaks the group first, so that the
	 * collective that still uses the memory ends, here and on the other ranks.
	 */
	private RuntimeException released(Staged call, Throwable failure) {
		Throwable thrown = switch (failure) {
			case CollectiveException ex -> ex;
			case GroupStateException ex -> ex;
			case IllegalArgumentException ex -> ex;
			case UnsupportedOperationException ex -> ex;
			default -> DeviceCollectives.broken(this.group, call.collective(), ExitCode.PEER_LOST, failure.getMessage(),
					failure);
		};
		CleanUp.after(thrown, List.of(this::release));
		return CleanUp.unchecked(thrown);
	}

	private void runChunks(Staged call, Layout layout, Deadline deadline) {
		int parts = layout.inPlace() ? 1 : this.group.worldSize();
		long element = call.type().bytes();
		long chunk = Math.max(element, CHUNK_BYTES / parts / element * element);
		long largest = Math.min(chunk, layout.partBytes());
		this.even.prepare(layout, largest);
		if (layout.partBytes() > chunk) {
			this.odd.prepare(layout, largest);
		}
		Slot previous = null;
		long offset = 0;
		for (int index = 0; offset < layout.partBytes() || index == 0; index++) {
			Slot slot = (index % 2 == 0) ? this.even : this.odd;
			awaitCopies(call, slot, deadline);
			slot.offset = offset;
			slot.bytes = Math.min(chunk, layout.partBytes() - offset);
			copyIn(call, layout, slot);
			awaitCopies(call, slot, deadline);
			if (previous != null) {
				finish(call, layout, previous);
			}
			start(call, layout, slot, deadline);
			previous = slot;
			offset += slot.bytes;
		}
		finish(call, layout, previous);
		awaitCopies(call, this.even, deadline);
		if (layout.partBytes() > chunk) {
			awaitCopies(call, this.odd, deadline);
		}
	}

	private void agree(Staged call, long partBytes, Deadline deadline) {
		long[] sizes = new long[this.group.worldSize()];
		call.group()
			.withTimeout(deadline.remaining())
			.withLabel("size of " + call.collective() + " on device memory")
			.allGather(new long[] { partBytes }, sizes);
		for (int rank = 0; rank < sizes.length; rank++) {
			if (sizes[rank] != partBytes) {
				throw DeviceCollectives.broken(this.group, call.collective(), ExitCode.MISMATCH,
						"rank " + this.group.rank() + " passes " + partBytes + " bytes, rank " + rank + " passes "
								+ sizes[rank] + " bytes; pass the same count on every rank of group "
								+ this.group.name(),
						null);
			}
		}
	}

	private Layout layout(Staged call) {
		int all = this.group.worldSize();
		boolean root = this.group.rank() == call.root();
		long send = call.send().bytes();
		long receive = call.receive().bytes();
		return switch (call.collective()) {
			case ALL_REDUCE -> new Layout(1, 1, send, true);
			case REDUCE -> new Layout(1, root ? 1 : 0, send, true);
			case BROADCAST -> new Layout(root ? 1 : 0, 1, receive, true);
			case ALL_GATHER -> new Layout(1, all, send, false);
			case REDUCE_SCATTER -> new Layout(all, 1, receive, false);
			case GATHER -> new Layout(1, root ? all : 0, send, false);
			case SCATTER -> new Layout(root ? all : 0, 1, receive, false);
			case ALL_TO_ALL -> new Layout(all, all, send / all, false);
			case BARRIER, SCAN, EXCLUSIVE_SCAN ->
				throw new IllegalArgumentException(call.collective() + " is not offered on device memory");
		};
	}

	@SuppressWarnings("restricted") // pinned memory of at least that size
	private static MemorySegment segment(long address, long bytes) {
		return MemorySegment.ofAddress(address).reinterpret(bytes);
	}

	private void copyIn(Staged call, Layout layout, Slot slot) {
		for (int part = 0; part < layout.sendParts(); part++) {
			this.runtime.copy(slot.send() + part * slot.bytes,
					call.send().address() + part * layout.partBytes() + slot.offset, slot.bytes, slot.stream);
		}
	}

	/** Works in place in the send staging buffer where the collective can. */
	private void start(Staged call, Layout layout, Slot slot, Deadline deadline) {
		MemorySegment whole = segment(slot.send(), slot.bytes);
		MemorySegment sent = layout.inPlace() ? whole : slot.sent(layout);
		MemorySegment received = layout.inPlace() ? whole : slot.received(layout);
		boolean first = slot.offset == 0 && slot.bytes < layout.partBytes();
		slot.collective = CompletableFuture.runAsync(() -> {
			if (first) {
				agree(call, layout.partBytes(), deadline);
			}
			DeviceCollectives.run(call.group().withTimeout(deadline.remaining()), call.collective(), sent, received,
					call.type(), call.op(), call.root());
		}, this.collectives);
	}

	private void finish(Staged call, Layout layout, Slot slot) {
		join(call, slot.collective);
		long from = layout.inPlace() ? slot.send() : slot.receive();
		for (int part = 0; part < layout.receiveParts(); part++) {
			this.runtime.copy(call.receive().address() + part * layout.partBytes() + slot.offset,
					from + part * slot.bytes, slot.bytes, slot.stream);
		}
	}

	private void join(Staged call, CompletableFuture<Void> collective) {
		try {
			collective.get();
		}
		catch (ExecutionException ex) {
			throw CleanUp.unchecked(ex.getCause());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw DeviceCollectives.broken(this.group, call.collective(), ExitCode.PEER_LOST,
					"the calling thread was interrupted", ex);
		}
	}

	private void awaitCopies(Staged call, Slot slot, Deadline deadline) {
		DeviceCollectives.await(this.group, this.runtime, slot.stream, deadline, call.collective(),
				"copies between device and host were not done");
	}

	private void release() {
		CleanUp.runAll(List.of(this.odd::release, this.even::release));
	}

	/** Waits for a call in progress, then frees the memory; later calls are refused. */
	@Override
	public void close() {
		this.turn.lock();
		try (SelectedDevice _ = SelectedDevice.select(this.runtime, this.device)) {
			this.closed = true;
			CleanUp.runAll(List.of(this::release, this.collectives::shutdown));
		}
		finally {
			this.turn.unlock();
		}
	}

}
