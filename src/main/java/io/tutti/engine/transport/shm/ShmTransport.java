package io.tutti.engine.transport.shm;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

import io.tutti.CollectiveListener;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.MetadataExchange;
import io.tutti.engine.transport.CallContext;
import io.tutti.engine.transport.CallWait;
import io.tutti.engine.transport.IdleStrategy;
import io.tutti.engine.transport.Link;
import io.tutti.engine.transport.Transport;
import io.tutti.engine.transport.shm.HostLayout.Line;
import org.jspecify.annotations.Nullable;

/**
 * Moves bytes between the ranks of one host through shared memory. Links support any
 * algorithm; in addition there are {@link CallSlots} for small calls and a
 * {@link ChunkPipeline} for large ones. Shared memory does not reveal a dead peer, so
 * every wait checks the failure latch.
 */
public final class ShmTransport implements Transport, CallWait.Peers, WaitPolicy {

	/** The name in configuration and output. */
	public static final String NAME = "shm";

	private static final long BUFFER_ALIGNMENT = 4096;

	private final HostMemory memory;

	private final Arena arena = Arena.ofShared();

	private final CallContext context;

	private final CallWait waiting;

	private final Doorbell doorbell;

	private final CallSlots slots;

	private final ChunkPipeline pipeline;

	private final PeerBuffers buffers;

	private final AgreedChoices choices;

	private final SegmentDirectory directory;

	private final CollectiveListener events;

	private final @Nullable RingLink[] links;

	private boolean closed;

	/**
	 * A transport that owns the memory.
	 * @param memory shared by all ranks of the group
	 * @param settings directory for allocations
	 * @param oversubscribed whether the host has fewer cores than ranks
	 */
	public ShmTransport(GroupIdentity identity, FailureLatch latch, HostMemory memory, SharedMemorySettings settings,
			boolean oversubscribed, CollectiveListener events) {
		if (memory.ranks() != identity.worldSize()) {
			throw new IllegalArgumentException("memory must be shared by all " + identity.worldSize()
					+ " ranks of the group, is shared by " + memory.ranks());
		}
		this.memory = memory;
		this.context = new CallContext(identity, latch, this.arena);
		this.waiting = new CallWait(this.context, this, IdleStrategy.Limits.collective(oversubscribed));
		this.doorbell = new Doorbell(memory, Futex.find(this.arena));
		this.slots = new CallSlots(memory, this.context, this.doorbell, this);
		this.pipeline = new ChunkPipeline(memory, this.doorbell);
		this.buffers = new PeerBuffers(memory, this.slots, this.doorbell, this, this.arena);
		this.choices = new AgreedChoices(memory, this.slots);
		this.directory = new SegmentDirectory(settings);
		this.events = events;
		this.links = new RingLink[identity.worldSize()];
	}

	@Override
	public String name() {
		return NAME;
	}

	/** The slots in which every call is posted and small calls are executed. */
	public CallSlots slots() {
		return this.slots;
	}

	/** The pipeline for large buffers. */
	public ChunkPipeline pipeline() {
		return this.pipeline;
	}

	/** Buffers of the ranks in a call, as the other ranks access them. */
	public PeerBuffers buffers() {
		return this.buffers;
	}

	/** Choices of the ranks whether ranks read each other's private memory. */
	public AgreedChoices choices() {
		return this.choices;
	}

	/**
	 * Allocates a buffer that all ranks can access in place. If a rank cannot create or
	 * map it, allocates plain native memory and notifies the listener. Every rank calls
	 * it in the same order. No rank may use the buffer before all ranks have returned.
	 * @param bytes the same on every rank
	 * @param arena owns the buffer
	 * @return a zeroed buffer of that size
	 * @throws OutOfMemoryError on every rank, if the host has not that much memory
	 * @throws IOException if the exchange failed
	 */
	public MemorySegment allocate(long bytes, Arena arena, MetadataExchange exchange, Deadline deadline)
			throws IOException {
		SymmetricAllocator allocating = new SymmetricAllocator(this.memory.self(), this.memory.ranks(), exchange,
				this.directory, deadline);
		SharedAllocation made = allocating.allocate(bytes);
		MemorySegment own = (made != null) ? this.memory.allocations().add(made, arena)
				: arena.allocate(bytes, BUFFER_ALIGNMENT);
		if (made == null) {
			this.events
				.note("a buffer of " + bytes + " bytes is not shared between ranks, because " + allocating.refusal());
		}
		return own;
	}

	/**
	 * Makes a buffer private that all ranks can access in place; ignores other memory.
	 * Its arena releases it.
	 */
	public void free(MemorySegment buffer) {
		this.memory.allocations().free(buffer);
	}

	/** Starts a call that uses links, and posts it. */
	@Override
	public void begin(Call call) {
		enter(call);
		for (RingLink link : this.links) {
			if (link != null) {
				link.unblock();
			}
		}
		this.slots.post();
	}

	/** Starts a call whose algorithm posts it in the {@link #slots()}. */
	public void enter(Call call) {
		this.context.begin(call);
		this.waiting.begin();
		this.doorbell.awake();
		this.slots.begin();
	}

	@Override
	public Link link(int peer) {
		RingLink link = this.links[peer];
		if (link == null) {
			link = new RingLink(peer, this.context, this.memory, this.doorbell);
			this.links[peer] = link;
		}
		return link;
	}

	/**
	 * A call of this rank has failed: its caller may change buffers that other ranks
	 * still read.
	 */
	public void fail() {
		this.memory.fail(Line.FAILED);
	}

	@Override
	public void stalled() {
		this.waiting.stalled();
	}

	@Override
	public void moved() {
		this.waiting.moved();
		this.doorbell.awake();
	}

	@Override
	public void check() {
		this.waiting.requireWorthWaiting();
	}

	/** Checks for ranks that have entered a different call, then sleeps. */
	@Override
	public void sleep(long maxNanos) {
		for (int rank = 0; rank < this.links.length; rank++) {
			this.slots.arrived(rank);
		}
		this.doorbell.sleep(maxNanos);
	}

	/**
	 * The ranks that have not entered the call; if all have, the ranks whose links are
	 * blocked or whose part of the call this rank waits for.
	 */
	@Override
	public List<Integer> awaited() {
		List<Integer> absent = new ArrayList<>();
		List<Integer> blocking = new ArrayList<>();
		for (int rank = 0; rank < this.links.length; rank++) {
			RingLink link = this.links[rank];
			if (!this.slots.arrived(rank)) {
				absent.add(rank);
			}
			else if (link != null && link.blocked() || this.pipeline.awaits(rank) || this.buffers.awaits(rank)) {
				blocking.add(rank);
			}
		}
		return absent.isEmpty() ? blocking : absent;
	}

	@Override
	public CallWait.Moved moved(int peer) {
		RingLink link = this.links[peer];
		return (link != null) ? link.moved() : CallWait.Moved.NONE;
	}

	@Override
	public synchronized void wake() {
		if (!this.closed) {
			this.doorbell.wakeSelf();
		}
	}

	@Override
	public synchronized void close() {
		if (!this.closed) {
			this.closed = true;
			this.memory.close();
			this.arena.close();
		}
	}

}
