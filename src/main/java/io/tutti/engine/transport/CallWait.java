package io.tutti.engine.transport;

import java.util.List;
import java.util.stream.Collectors;

import io.tutti.CollectiveException;
import io.tutti.Failure;
import io.tutti.engine.spi.Call;

/**
 * What a collective checks while it waits, and how a timeout describes the data that had
 * moved until then.
 */
public final class CallWait implements IdleStrategy.Condition {

	/** The peers for which a collective waits. */
	public interface Peers {

		/** Sleeps until something may move, for at most that long. */
		void sleep(long maxNanos);

		/** The ranks of the group that this one waits for. */
		List<Integer> awaited();

		/** The data exchanged with a rank of the group in this call. */
		Moved moved(int peer);

	}

	/** Bytes that a call has received from a rank and sent to it. */
	public record Moved(long receivedBytes, long sentBytes) {

		/** No data at all. */
		public static final Moved NONE = new Moved(0, 0);

		@Override
		public String toString() {
			return this.receivedBytes + " bytes received, " + this.sentBytes + " bytes sent";
		}

	}

	/** Data that moved within this time before a deadline were still moving. */
	private static final long STILL_MOVING_NANOS = 1_000_000_000;

	/** Most ranks whose amounts are listed. */
	private static final int DETAILED = 8;

	/**
	 * After so long without a move a call is compared with the calls of other ranks: late
	 * enough that no healthy call pays for it, soon enough to fail within a second.
	 */
	private static final long COMPARE_AFTER_NANOS = 100_000_000;

	private final CallContext context;

	private final Peers peers;

	private final IdleStrategy idle;

	public CallWait(CallContext context, Peers peers, IdleStrategy.Limits limits) {
		this.context = context;
		this.peers = peers;
		this.idle = new IdleStrategy(limits, this);
	}

	/** A call begins. */
	public void begin() {
		this.idle.begin();
	}

	/** Something moved. */
	public void moved() {
		this.idle.moved();
	}

	/** Nothing moved in this round. */
	public void stalled() {
		this.idle.stalled();
	}

	@Override
	public void sleep(long maxNanos) {
		if (this.idle.idleNanos(System.nanoTime()) >= COMPARE_AFTER_NANOS) {
			this.context.call().waited();
		}
		this.peers.sleep(Math.min(maxNanos, this.context.call().deadline().remainingNanos() + 1));
		this.context.call().requireOpenBuffers();
	}

	@Override
	public void check(long nowNanos) {
		requireWorthWaiting();
	}

	/**
	 * Checks that waiting can still end well.
	 * @throws CollectiveException if the deadline has passed, the group is broken, a rank
	 * has left it, or the thread was interrupted
	 */
	public void requireWorthWaiting() {
		Call call = this.context.call();
		Failure obstacle = this.context.latch().obstacleTo(call, this.context.identity());
		if (obstacle != null) {
			throw this.context.identity().exception(obstacle, null);
		}
		if (call.deadline().expired()) {
			List<Integer> awaited = this.peers.awaited();
			throw this.context.failure(Failure.Kind.TIMEOUT, awaited, movedUntilNow(awaited), null);
		}
		if (Thread.currentThread().isInterrupted()) {
			throw this.context.failure(Failure.Kind.ABORTED, List.of(this.context.identity().rank()),
					"the calling thread was interrupted", new InterruptedException());
		}
	}

	/**
	 * Describes the data that had moved before a deadline passed.
	 * @param moved how much
	 * @param idleNanos the time since
	 */
	public static String describe(String moved, long idleNanos) {
		long idleMillis = idleNanos / 1_000_000;
		return (idleNanos < STILL_MOVING_NANOS)
				? "data moves too slowly: " + moved + ", the last " + idleMillis + " ms ago"
				: "no data has moved for " + idleMillis + " ms; before that " + moved;
	}

	private String movedUntilNow(List<Integer> awaited) {
		String moved = awaited.stream()
			.filter((peer) -> !this.peers.moved(peer).equals(Moved.NONE))
			.limit(DETAILED)
			.map((peer) -> "rank " + this.context.identity().members().get(peer) + ": " + this.peers.moved(peer))
			.collect(Collectors.joining("; "));
		return moved.isEmpty() ? "nothing more came from them"
				: describe(moved, this.idle.idleNanos(System.nanoTime()));
	}

}
