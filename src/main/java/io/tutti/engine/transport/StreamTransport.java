package io.tutti.engine.transport;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;

import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.GroupIdentity;
import org.jspecify.annotations.Nullable;

/**
 * Moves bytes over one {@link ByteStream} per peer, made on first use.
 */
public abstract class StreamTransport implements Transport, CallWait.Peers {

	protected final CallContext context;

	protected final CallWait waiting;

	/** The links in use, by order of their first use. */
	protected final List<StreamLink> used = new ArrayList<>();

	private final Arena arena = Arena.ofShared();

	private final @Nullable StreamLink[] links;

	@SuppressWarnings("this-escape") // the wait calls back only during a call
	protected StreamTransport(GroupIdentity identity, FailureLatch latch, IdleStrategy.Limits limits) {
		this.context = new CallContext(identity, latch, this.arena);
		this.waiting = new CallWait(this.context, this, limits);
		this.links = new StreamLink[identity.worldSize()];
	}

	/**
	 * Makes the stream to a rank of the group.
	 * @return the stream, {@code null} while it is not connected yet
	 * @throws io.tutti.CollectiveException if the rank cannot be reached
	 */
	protected abstract @Nullable ByteStream connect(int peer);

	@Override
	public void begin(Call call) {
		this.context.begin(call);
		this.waiting.begin();
		for (int i = 0; i < this.used.size(); i++) {
			this.used.get(i).unblock();
		}
	}

	@Override
	public Link link(int peer) {
		StreamLink link = this.links[peer];
		if (link == null) {
			link = new StreamLink(peer, this.context, this.arena);
			this.links[peer] = link;
			this.used.add(link);
			connect(link);
		}
		return link;
	}

	/** Connects a link, if its stream can be made now. */
	protected final void connect(StreamLink link) {
		ByteStream stream = connect(link.peer());
		if (stream != null) {
			link.connect(stream);
		}
	}

	@Override
	public void stalled() {
		this.waiting.stalled();
	}

	@Override
	public void moved() {
		this.waiting.moved();
	}

	@Override
	public List<Integer> awaited() {
		return this.used.stream()
			.filter((link) -> link.blockedReading() || link.blockedWriting() || !link.connected())
			.map(StreamLink::peer)
			.toList();
	}

	@Override
	public CallWait.Moved moved(int peer) {
		StreamLink link = this.links[peer];
		return (link != null) ? link.moved() : CallWait.Moved.NONE;
	}

	@Override
	public void close() {
		this.arena.close();
	}

}
