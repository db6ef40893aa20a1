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

	private final @Nullable CrossMemoryAttach attach;

	/** By member index; {@code null} until a connection to the member exists. */
	private final @Nullable RingStream[] streams;

	private final Queue<Integer> dialed = new ArrayDeque<>();

	private final boolean oversubscribed;

	private final long ownCalls;

	private int seenCalls;

	/** Whether work was pending when the thread prepared to sleep. */
	private boolean workPending;

	/** Held by the thread that sleeps. */
	private final ReentrantLock sleepLock = new ReentrantLock();

	private volatile boolean closed;

	/**
	 * The connections of one rank.
	 * @param memory referenced until the connections are closed
	 * @param members the group's ranks that share the memory, in its order
	 * @param oversubscribed whether the host has fewer cores than ranks
	 */
	public RingConnections(HostMemory memory, List<Integer> members, boolean oversubscribed) {
		this.members = List.copyOf(members);
		this.oversubscribed = oversubscribed;
		this.doorbell = Doorbell.forMessages(memory, Futex.find(this.arena));
		this.attach = memory.attach(this.arena);
		this.streams = new RingStream[memory.ranks()];
		this.ownCalls = memory.layout().line(memory.self(), Line.MESSAGE_CALLS);
		// Last, so that no reference is left if the doorbell cannot be set up.
		this.memory = memory.share();
	}

	@Override
	public void dial(int peer) {
		this.dialed.add(this.members.indexOf(peer));
	}

	@Override
	public boolean poll(Handler handler) {
		int calls = SharedWords.readOpaque(this.ownCalls);
		if (calls == this.seenCalls && this.dialed.isEmpty()) {
			return false;
		}
		for (Integer index = this.dialed.poll(); index != null; index = this.dialed.poll()) {
			connect(index, handler);
		}
		if (calls != this.seenCalls) {
			this.seenCalls = SharedWords.read(this.ownCalls);
			acceptNew(handler);
		}
		return true;
	}

	private void connect(int index, Handler handler) {
		if (this.streams[index] == null) {
			RingStream stream = new RingStream(index, this.memory, this.doorbell, this.attach, this.oversubscribed);
			this.streams[index] = stream;
			handler.arrived(this.members.get(index), stream);
		}
	}

	private void acceptNew(Handler handler) {
		for (int index = 0; index < this.streams.length; index++) {
			if (this.streams[index] == null
					&& new RingStream(index, this.memory, this.doorbell, this.attach, this.oversubscribed).hasData()) {
				connect(index, handler);
			}
		}
	}

	@Override
	public void prepareSleep(int awaited) {
		this.doorbell.sleep(0);
		this.workPending = SharedWords.read(this.ownCalls) != this.seenCalls;
		for (int index = 0; index < this.streams.length && !this.workPending; index++) {
			RingStream stream = this.streams[index];
			this.workPending = stream != null && stream.unblocked();
		}
	}

	@Override
	public void sleep(long maxNanos) {
		this.sleepLock.lock();
		try {
			if (!this.closed) {
				if (!this.workPending) {
					this.doorbell.sleep(maxNanos);
				}
				this.doorbell.awake();
			}
		}
		finally {
			this.sleepLock.unlock();
		}
	}

	@Override
	public synchronized void wake() {
		if (!this.closed) {
			this.doorbell.wakeSelf();
		}
	}

	@Override
	public void announceFailure() {
		this.memory.fail(Line.MESSAGES_FAILED);
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
		this.sleepLock.lock();
		try {
			this.memory.close();
			this.arena.close();
		}
		finally {
			this.sleepLock.unlock();
		}
	}

}
