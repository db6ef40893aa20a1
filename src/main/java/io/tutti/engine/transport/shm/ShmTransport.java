package io.tutti.engine.transport.shm;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;

import io.tutti.engine.Call;
import io.tutti.engine.FailureLatch;
import io.tutti.engine.GroupIdentity;
import io.tutti.engine.transport.CallFrame;
import io.tutti.engine.transport.Link;
import io.tutti.engine.transport.Transport;
import io.tutti.engine.transport.Waiting;
import org.jspecify.annotations.Nullable;

/**
 * Moves bytes between the ranks of one host through memory that they share. Beside links,
 * which carry any algorithm, it has a {@link CallBoard} for small calls and a
 * {@link Stage} for large ones. A dead peer gives no sign here: every wait looks at the
 * failure latch.
 */
public final class ShmTransport implements Transport, Waiting.Sleeper, Patience {

	/** The name people type and read. */
	public static final String NAME = "shm";

	private final GroupIdentity identity;

	private final HostMemory memory;

	private final Arena arena = Arena.ofShared();

	private final CallFrame frame;

	private final Waiting waiting;

	private final Doorbell doorbell;

	private final CallBoard board;

	private final Stage stage;

	private final @Nullable RingLink[] links;

	private boolean closed;

	/**
	 * A transport that owns the memory.
	 * @param memory shared by all ranks of the group
	 * @param crowded whether the host has fewer cores than ranks
	 */
	public ShmTransport(GroupIdentity identity, FailureLatch latch, HostMemory memory, boolean crowded) {
		if (memory.ranks() != identity.worldSize()) {
			throw new IllegalArgumentException("memory must be shared by all " + identity.worldSize()
					+ " ranks of the group, is shared by " + memory.ranks());
		}
		this.identity = identity;
		this.memory = memory;
		this.frame = new CallFrame(identity, latch, this.arena);
		this.waiting = new Waiting(this.frame, this, crowded);
		this.doorbell = new Doorbell(memory, Futex.find(this.arena));
		this.board = new CallBoard(memory, this.frame, this.doorbell, this);
		this.stage = new Stage(memory, this.doorbell);
		this.links = new RingLink[identity.worldSize()];
	}

	@Override
	public String name() {
		return NAME;
	}

	/** Where small calls are carried out and every call is posted. */
	public CallBoard board() {
		return this.board;
	}

	/** Where large buffers pass from rank to rank. */
	public Stage stage() {
		return this.stage;
	}

	/** Starts a call that goes over links, and posts it. */
	@Override
	public void begin(Call call) {
		enter(call);
		for (RingLink link : this.links) {
			if (link != null) {
				link.unblock();
			}
		}
		this.board.post();
	}

	/** Starts a call that posts itself on the {@link #board()}. */
	public void enter(Call call) {
		this.frame.begin(call);
		moved();
		this.board.begin();
	}

	@Override
	public Link link(int peer) {
		RingLink link = this.links[peer];
		if (link == null) {
			link = new RingLink(peer, this.frame, this.memory, this.doorbell);
			this.links[peer] = link;
		}
		return link;
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

	/** Looks for ranks that have entered another call, then sleeps. */
	@Override
	public void sleep(long maxNanos) {
		for (int rank = 0; rank < this.links.length; rank++) {
			this.board.arrived(rank);
		}
		this.doorbell.sleep(maxNanos);
	}

	/** Who has not entered the call; if all have, those who keep a link waiting. */
	@Override
	public List<Integer> awaited() {
		List<Integer> absent = new ArrayList<>();
		List<Integer> blocking = new ArrayList<>();
		for (int rank = 0; rank < this.links.length; rank++) {
			RingLink link = this.links[rank];
			if (!this.board.arrived(rank)) {
				absent.add(rank);
			}
			else if (link != null && link.blocked()) {
				blocking.add(rank);
			}
		}
		return absent.isEmpty() ? blocking : absent;
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
