package io.tutti.engine.transport.shm;

import java.lang.foreign.Arena;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.tutti.engine.transport.shm.HostLayout.Line;
import org.jspecify.annotations.Nullable;

/**
 * Memory that the handshake has verified to be shared by ranks of one host. Belongs to
 * one group. Its file is unlinked, so the kernel frees it when the last process unmaps
 * it.
 */
public final class HostMemory implements AutoCloseable {

	private final List<Integer> members;

	private final int self;

	private final SharedSegment segment;

	private final HostLayout layout;

	private final AtomicInteger holders = new AtomicInteger(1);

	private final SharedAllocations allocations;

	/** Whether each rank can read the memory of every other rank. */
	private final boolean attachable;

	HostMemory(List<Integer> members, int self, SharedSegment segment, boolean attachable) {
		this.members = List.copyOf(members);
		this.self = self;
		this.segment = segment;
		this.layout = new HostLayout(members.size(), segment.address());
		this.allocations = new SharedAllocations(self);
		this.attachable = attachable;
	}

	/** The ranks of the group that share the memory, in order, including this one. */
	public List<Integer> members() {
		return this.members;
	}

	/** This rank's index among them. */
	int self() {
		return this.self;
	}

	/** How many ranks share the memory. */
	int ranks() {
		return this.layout.ranks();
	}

	/** The addresses in the memory. */
	HostLayout layout() {
		return this.layout;
	}

	/** A rank's process. */
	ReadableProcess process(int rank) {
		return ReadableProcess.read(this.layout.line(rank, Line.PROCESS));
	}

	/**
	 * Calls of this rank have failed: their callers may change buffers that other ranks
	 * still read.
	 * @param flag of the kind of calls
	 */
	void fail(Line flag) {
		SharedWords.write(this.layout.line(this.self, flag), 1);
		// The caller's plain stores must not pass the store to the line.
		VarHandle.storeStoreFence();
	}

	/**
	 * Whether calls of a rank had failed by the time that this rank's last reads of its
	 * buffers were done.
	 * @param flag of the kind of calls
	 */
	boolean hasFailed(int rank, Line flag) {
		// The buffers are read by plain loads, which must not pass the load of the line.
		VarHandle.acquireFence();
		return SharedWords.read(this.layout.line(rank, flag)) != 0;
	}

	/** The buffers that the ranks have allocated together. */
	SharedAllocations allocations() {
		return this.allocations;
	}

	/**
	 * Reads the private memory of other ranks; {@code null} unless each rank can read
	 * that of every other rank.
	 * @param arena owns the memory of the system call's arguments
	 */
	@Nullable CrossMemoryAttach attach(Arena arena) {
		return this.attachable ? CrossMemoryAttach.find(arena) : null;
	}

	/** Adds a reference; each holder closes the memory once. */
	public HostMemory share() {
		if (this.holders.getAndUpdate((count) -> (count > 0) ? count + 1 : 0) == 0) {
			throw new IllegalStateException("the memory is closed");
		}
		return this;
	}

	/**
	 * Drops a reference. The last one marks this rank as departed and unmaps the memory.
	 */
	@Override
	public void close() {
		if (this.holders.decrementAndGet() == 0) {
			SharedWords.write(this.layout.line(this.self, Line.LEFT), 1);
			this.segment.close();
		}
	}

}
