package io.tutti.engine.transport.shm;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.Arrays;

import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.shm.HostLayout.Line;
import org.jspecify.annotations.Nullable;

/**
 * Buffers of the ranks in a call, as the other ranks access them. Those that the engine
 * has allocated lie in memory that all ranks of the group map, and are accessed in place.
 * Private ones can be read by cross-memory attach. A call posts the reference to its
 * buffer in the call slots: negative for one accessed in place, the address for one to
 * read, or 0.
 */
public final class PeerBuffers {

	/** Bytes that are read between two checks of the deadline. */
	private static final long BLOCK_BYTES = 4 << 20;

	/** Bytes that are accessed in place between two checks of the deadline. */
	private static final long CHECKED_BYTES = 64 << 20;

	private final HostMemory memory;

	private final ReadableProcess[] processes;

	private final CallSlots slots;

	private final Doorbell doorbell;

	private final WaitPolicy waiting;

	/** Reads private memory; {@code null} if that is not possible. */
	private @Nullable CrossMemoryAttach attach;

	/** What this rank posts. */
	private final long reference;

	/** Number of passes over other ranks' buffers that this rank has begun. */
	private long passes;

	/** Bytes that this pass has accessed since the last check. */
	private long accessed;

	PeerBuffers(HostMemory memory, CallSlots slots, Doorbell doorbell, WaitPolicy waiting, Arena arena) {
		this.memory = memory;
		this.processes = new ReadableProcess[memory.ranks()];
		Arrays.setAll(this.processes, memory::process);
		this.slots = slots;
		this.doorbell = doorbell;
		this.waiting = waiting;
		this.attach = memory.attach(arena);
		this.reference = arena.allocate(Long.BYTES, Long.BYTES).address();
	}

	/** Whether the ranks can read each other's private memory; the same on every rank. */
	public boolean canRead() {
		return this.attach != null;
	}

	/**
	 * Posts a call and the location of one of its buffers, which the other ranks access
	 * in place or not at all.
	 * @return whether they can access it in place
	 */
	public boolean post(long address, long bytes) {
		return post(this.memory.allocations().reference(address, bytes));
	}

	/**
	 * Posts a call and the location of its send buffer, which the other ranks can access
	 * in place or, if it is readable, can read.
	 * @return whether the other ranks can access it in place
	 */
	public boolean post(Call call, boolean readable) {
		long shared = this.memory.allocations().reference(call.sendAddress(), call.sendBytes());
		post((shared != 0 || !readable) ? shared : call.sendAddress());
		return shared != 0;
	}

	private boolean post(long reference) {
		NativeMemory.putLong(this.reference, reference);
		this.slots.post(this.reference, Long.BYTES);
		return reference != 0;
	}

	/** Whether the other ranks can access a buffer of this rank in place. */
	public boolean contain(long address, long bytes) {
		return this.memory.allocations().reference(address, bytes) != 0;
	}

	/** Whether the buffer that an arrived rank posted is accessible in place. */
	public boolean inPlace(int rank) {
		return reference(rank) < 0;
	}

	/**
	 * Checks that a rank was still in the call after this rank has read its buffer. A
	 * rank whose call has failed has broken the group: waits for the verdict.
	 */
	public void requireUnchanged(int rank) {
		while (this.memory.hasFailed(rank, Line.FAILED)) {
			this.waiting.stalled();
		}
	}

	/**
	 * Requires that this rank may go on to write to the other ranks' buffers. If a call
	 * has failed, its caller uses its buffer again, so this rank's pass ends where it is,
	 * and its own call has failed, too: no rank may take the incomplete pass for a
	 * finished one. Then waits for the verdict.
	 */
	public void requireWritable() {
		for (int rank = 0; rank < this.memory.ranks(); rank++) {
			if (this.memory.hasFailed(rank, Line.FAILED)) {
				this.memory.fail(Line.FAILED);
				finish();
				requireUnchanged(rank);
			}
		}
	}

	/** Address of a rank's accessible buffer in this process. */
	public long address(int rank) {
		return this.memory.allocations().address(rank, reference(rank));
	}

	/**
	 * Copies bytes of the buffer that an arrived rank posted. If private memory cannot be
	 * read, {@link #awaitFinished()} says so on every rank.
	 * @param offset offset in that buffer
	 * @param target address in this process
	 */
	public void copy(int rank, long offset, long target, long bytes) {
		long source = -1;
		for (long done = 0; done < bytes && source != 0; done += CHECKED_BYTES) {
			long length = Math.min(CHECKED_BYTES, bytes - done);
			source = access(rank, offset + done, length, target + done);
			if (source != 0) {
				NativeMemory.copy(source, target + done, length);
			}
		}
	}

	/**
	 * Makes bytes of the buffer that an arrived rank posted accessible to this process.
	 * @param offset offset in that buffer
	 * @param target address in this process to which private memory is read
	 * @return address of the bytes, or 0 if private memory cannot be read, which
	 * {@link #awaitFinished()} then says on every rank
	 * @throws io.tutti.CollectiveException if the pass has taken long and the call cannot
	 * end well any more
	 */
	public long access(int rank, long offset, long bytes, long target) {
		if (this.accessed >= CHECKED_BYTES) {
			this.accessed = 0;
			this.waiting.check();
		}
		this.accessed += bytes;
		if (inPlace(rank)) {
			return address(rank) + offset;
		}
		if (read(rank, reference(rank) + offset, target, bytes)) {
			return target;
		}
		SharedWords.release(this.memory.layout().line(this.memory.self(), Line.UNREADABLE), this.passes);
		return 0;
	}

	/** Fails if the rank has ended, or its memory is a device's. */
	private boolean read(int rank, long source, long target, long bytes) {
		CrossMemoryAttach reading = this.attach;
		if (reading == null) {
			return false;
		}
		try {
			for (long done = 0; done < bytes; done += BLOCK_BYTES) {
				if (done > 0) {
					this.waiting.check();
				}
				reading.copy(this.processes[rank], source + done, target + done, Math.min(BLOCK_BYTES, bytes - done));
			}
			return true;
		}
		catch (IOException ex) {
			return false;
		}
	}

	private long reference(int rank) {
		return NativeMemory.getLong(this.slots.operand(rank, Long.BYTES));
	}

	/** Begins this rank's pass over the other ranks' buffers. */
	public void begin() {
		this.passes++;
		this.accessed = 0;
	}

	/** Publishes that this rank has finished its pass over the other ranks' buffers. */
	public void finish() {
		SharedWords.release(this.memory.layout().line(this.memory.self(), Line.FINISHED), this.passes);
		this.doorbell.ringAll();
	}

	/**
	 * Ends a pass in which this rank's call has failed: waits until no other rank is in
	 * it, so that none writes to this rank's buffer any more. A rank that has died in it
	 * never says so.
	 * @param limit longest time to wait
	 */
	public void fail(Deadline limit) {
		this.memory.fail(Line.FAILED);
		finish();
		for (int rank = 0; rank < this.memory.ranks(); rank++) {
			while (!hasFinished(rank) && !limit.expired()) {
				Thread.yield();
			}
		}
	}

	/** Whether this rank has finished its pass, and waits for a rank that has not. */
	boolean awaits(int rank) {
		return hasFinished(this.memory.self()) && !hasFinished(rank);
	}

	private boolean hasFinished(int rank) {
		return SharedWords.acquire(this.memory.layout().line(rank, Line.FINISHED)) >= this.passes;
	}

	/**
	 * Waits until all ranks have finished their pass, so that the buffers may be modified
	 * again.
	 * @return {@code false} if a rank could not read another one's private memory. Then
	 * the copies are incomplete, and no rank reads any more
	 */
	public boolean awaitFinished() {
		boolean complete = true;
		for (int rank = 0; rank < this.memory.ranks(); rank++) {
			while (!hasFinished(rank)) {
				this.waiting.stalled();
			}
			requireUnchanged(rank);
			complete &= SharedWords.acquire(this.memory.layout().line(rank, Line.UNREADABLE)) != this.passes;
		}
		this.waiting.moved();
		if (!complete) {
			this.attach = null;
		}
		return complete;
	}

}
