package io.tutti.engine.transport.shm;

import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.locks.ReentrantLock;

import io.tutti.engine.transport.Connections;
import io.tutti.engine.transport.shm.HostLayout.Line;
import org.jspecify.annotations.Nullable;

/**
 * The connections for one group's messages between ranks of a host, over rings in shared
 * memory. The rings exist from the start. A rank polls a ring only after its peer's first
 * write, which increments a counter that the rank watches.
 */
public final class RingConnections implements Connections {

	private final HostMemory memory;

	private final List<Integer> members;

	private final Arena arena = Arena.ofShared();

	private final Doorbell doorbell;

	/** By member index; {@code null} until a connection to the member exists. */
	private final @Nullable RingStream[] wires;

	private final Queue<Integer> dialed = new ArrayDeque<>();

	private final long ownCalls;

	private int callsHeard;

	/** Whether work was pending when the thread prepared to sleep. */
	private boolean restless;

	/** Held by the thread that sleeps. */
	private final ReentrantLock bed = new ReentrantLock();

	private volatile boolean closed;

	/**
	 * The connections of one rank.
	 * @param memory referenced until the connections are closed
	 * @param members the group's ranks that share the memory, in its order
	 */
	public RingConnections(HostMemory memory, List<Integer> members) {
		this.memory = memory.share();
		this.members = List.copyOf(members);
		this.doorbell = Doorbell.forMessages(memory, Futex.find(this.arena));
		this.wires = new RingStream[memory.ranks()];
		this.ownCalls = memory.line(memory.self(), Line.MESSAGE_CALLS);
	}

	@Override
	public void dial(int peer) {
		this.dialed.add(this.members.indexOf(peer));
	}

	@Override
	public boolean poll(Handler handler) {
		int calls = SharedWords.glance(this.ownCalls);
		if (calls == this.callsHeard && this.dialed.isEmpty()) {
			return false;
		}
		Integer place = this.dialed.poll();
		while (place != null) {
			connect(place, true, handler);
			place = this.dialed.poll();
		}
		if (calls != this.callsHeard) {
			this.callsHeard = SharedWords.read(this.ownCalls);
			answer(handler);
		}
		return true;
	}

	private void connect(int place, boolean dialed, Handler handler) {
		if (this.wires[place] == null) {
			RingStream wire = new RingStream(place, this.memory, this.doorbell);
			this.wires[place] = wire;
			handler.arrived(this.members.get(place), wire, dialed);
		}
	}

	private void answer(Handler handler) {
		for (int place = 0; place < this.wires.length; place++) {
			if (this.wires[place] == null && new RingStream(place, this.memory, this.doorbell).hasCome()) {
				connect(place, false, handler);
			}
		}
	}

	@Override
	public void prepareSleep(int awaited) {
		this.doorbell.sleep(0);
		this.restless = SharedWords.read(this.ownCalls) != this.callsHeard;
		for (int place = 0; place < this.wires.length && !this.restless; place++) {
			RingStream wire = this.wires[place];
			this.restless = wire != null && wire.unblocked();
		}
	}

	@Override
	public void sleep(long maxNanos) {
		this.bed.lock();
		try {
			if (!this.closed) {
				if (!this.restless) {
					this.doorbell.sleep(maxNanos);
				}
				this.doorbell.awake();
			}
		}
		finally {
			this.bed.unlock();
		}
	}

	@Override
	public synchronized void wake() {
		if (!this.closed) {
			this.doorbell.wakeSelf();
		}
	}

	/** Wakes the sleeping thread and releases the memory once no thread uses it. */
	@Override
	public void close() {
		synchronized (this) {
			if (this.closed) {
				return;
			}
			this.doorbell.wakeSelf();
			this.closed = true;
		}
		this.bed.lock();
		try {
			this.memory.close();
			this.arena.close();
		}
		finally {
			this.bed.unlock();
		}
	}

}
