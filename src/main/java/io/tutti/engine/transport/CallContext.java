package io.tutti.engine.transport;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.List;

import io.tutti.CollectiveException;
import io.tutti.Failure;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.CallSignature;
import io.tutti.engine.spi.Fingerprint;
import io.tutti.engine.spi.GroupIdentity;
import org.jspecify.annotations.Nullable;

/**
 * The call that has the turn, as all links of a group see it: its fingerprint in native
 * memory, and the exceptions for its failures.
 */
public final class CallContext {

	/** How long it may take to find out which calls before this one differed. */
	private static final Duration COMPARING = Duration.ofMillis(600);

	private final GroupIdentity identity;

	private final FailureLatch latch;

	private final long fingerprint;

	private @Nullable Call call;

	private long turn = -1;

	/**
	 * A context whose memory lives as long as the arena.
	 */
	public CallContext(GroupIdentity identity, FailureLatch latch, Arena arena) {
		this.identity = identity;
		this.latch = latch;
		this.fingerprint = arena.allocate(Fingerprint.BYTES, 64).address();
	}

	/** Begins a call, or a part of one. */
	public void begin(Call call) {
		this.call = call;
		this.turn++;
		Fingerprint.write(call, this.fingerprint);
	}

	/** The call that has the turn. */
	public Call call() {
		Call current = this.call;
		if (current == null) {
			throw new IllegalStateException("no call has begun");
		}
		return current;
	}

	/** The group and this process's place in it. */
	public GroupIdentity identity() {
		return this.identity;
	}

	/** Whether the group is broken. */
	public FailureLatch latch() {
		return this.latch;
	}

	/** Number of calls that began before this one, -1 before the first. */
	public long turn() {
		return this.turn;
	}

	/** Native address of the call's fingerprint. */
	public long fingerprint() {
		return this.fingerprint;
	}

	/** A peer of the group was lost. */
	public CollectiveException lost(int peer, String detail, @Nullable Throwable cause) {
		return failure(Failure.Kind.PEER_LOST, List.of(peer), detail, cause);
	}

	/**
	 * A peer called something else, now or before: its fingerprint is at this native
	 * address.
	 */
	public CollectiveException mismatch(int peer, long theirs) {
		CallSignature mine = Fingerprint.read(this.fingerprint);
		CallSignature other = read(theirs);
		if (other != null && (mine.equals(other) || mine.sequence() != other.sequence())) {
			return earlierMismatch(peer, mine, other);
		}
		return mismatch(peer, called(peer, mine, (other != null) ? other.toString() : "an unknown collective"));
	}

	/**
	 * The first difference lies in an earlier call. Rank 0 compares the earlier calls of
	 * both ranks, and its verdict names them.
	 */
	private CollectiveException earlierMismatch(int peer, CallSignature mine, CallSignature other) {
		call().disputed();
		call().waited();
		Failure verdict = this.latch.await(COMPARING);
		if (verdict != null) {
			return this.identity.exception(verdict, null);
		}
		return mismatch(peer,
				mine.equals(other)
						? "ranks " + this.identity.worldRank() + " and " + worldRank(peer)
								+ " called different collectives in an earlier call"
						: called(peer, mine, other.toString()));
	}

	private CollectiveException mismatch(int peer, String detail) {
		return failure(Failure.Kind.MISMATCH, List.of(this.identity.rank(), peer), detail, null);
	}

	private String called(int peer, CallSignature mine, String other) {
		return "rank " + this.identity.worldRank() + " called " + mine + ", rank " + worldRank(peer) + " called "
				+ other;
	}

	private int worldRank(int peer) {
		return this.identity.members().get(peer);
	}

	private static @Nullable CallSignature read(long fingerprint) {
		try {
			return Fingerprint.read(fingerprint);
		}
		catch (IllegalArgumentException ex) {
			return null;
		}
	}

	/** Builds the exception for a failure that these ranks of the group caused. */
	public CollectiveException failure(Failure.Kind kind, List<Integer> groupRanks, String detail,
			@Nullable Throwable cause) {
		List<Integer> worldRanks = groupRanks.stream().map(this.identity.members()::get).toList();
		return this.identity.exception(call().failure(kind, this.identity.name(), worldRanks, detail), cause);
	}

}
