package io.tutti.engine.control;

import java.util.ArrayList;
import java.util.List;

import io.tutti.Failure;
import io.tutti.engine.spi.CallReport;
import io.tutti.engine.spi.CallSignature;
import org.jspecify.annotations.Nullable;

/**
 * What travels between rank 0 and any other rank, by who says it and when.
 */
public sealed interface ControlMessage {

	/** Said while ranks meet. */
	sealed interface Greeting extends ControlMessage {

	}

	/** Said by both sides, all the time. */
	sealed interface Heartbeat extends ControlMessage {

	}

	/** A message from a rank to rank 0. */
	sealed interface Request extends ControlMessage {

	}

	/** A request of labelled barriers or of call matching. */
	sealed interface LabelledRequest extends Request {

	}

	/** A message from rank 0 to a rank. */
	sealed interface Notice extends ControlMessage {

	}

	/** A notice of labelled barriers or of call matching. */
	sealed interface LabelledNotice extends Notice {

	}

	/**
	 * Who knocks.
	 *
	 * @param host where the rank accepts data connections
	 * @param hostChosen whether somebody set that host; otherwise it is the local end of
	 * the rank's connection
	 * @param nonce random bytes that make each proof a new one
	 */
	record Hello(String jobId, long generation, int rank, int worldSize, String host, boolean hostChosen, int dataPort,
			String hostIdentity, byte[] nonce) implements Greeting {
	}

	/** A hello in a version of the protocol that this process does not speak. */
	record ForeignHello(int version) implements Greeting {
	}

	/** Asks for proof of the token over these random bytes. */
	record Challenge(byte[] nonce) implements Greeting {
	}

	/** A rank's proof of the token. */
	record Proof(byte[] proof) implements Greeting {
	}

	/** The rank has its seat; rank 0 proves the token in turn. */
	record Welcome(long generation, byte[] proof) implements Greeting {
	}

	/**
	 * The rank does not get a seat.
	 *
	 * @param reason why it never will, or {@code null} if it may try again
	 */
	record Refused(RendezvousException.@Nullable Reason reason, String message) implements Greeting {
	}

	/**
	 * How the meeting stands.
	 *
	 * @param over whether rank 0 has given up
	 */
	record Awaiting(MissingRanks absence, boolean over) implements Greeting {
	}

	/**
	 * All have met.
	 *
	 * @param keyNonce from which, with the token, the session key is derived
	 * @param conduct what all ranks do alike, as rank 0 has it
	 * @param peers by rank; an empty host of rank 0 means where this rank reached it
	 */
	record Roster(long generation, byte[] keyNonce, String conduct, List<PeerAddress> peers) implements Greeting {

		public Roster {
			peers = List.copyOf(peers);
		}

		/** The same with rank 0 where it was reached, unless it chose an address. */
		public Roster withRankZeroAt(String host) {
			PeerAddress zero = this.peers.getFirst();
			if (!zero.host().isEmpty()) {
				return this;
			}
			List<PeerAddress> reachable = new ArrayList<>(this.peers);
			reachable.set(0, new PeerAddress(0, host, zero.port(), zero.hostIdentity()));
			return new Roster(this.generation, this.keyNonce, this.conduct, reachable);
		}

	}

	/** Asks for a sign of life. */
	record Ping(long sentNanos) implements Heartbeat {
	}

	/**
	 * Answers a ping with its own time stamp.
	 *
	 * @param progress how far the rank has come
	 */
	record Pong(long sentNanos, List<RankProgress> progress) implements Heartbeat {

		public Pong {
			progress = List.copyOf(progress);
		}

	}

	/** What a rank saw. */
	record Report(Failure failure) implements Request {
	}

	/**
	 * Answers a roll call.
	 *
	 * @param members the world ranks of the group, if it is not the one of all ranks and
	 * the rank knows it; otherwise empty
	 */
	record RollCallReply(long id, long lastEntered, List<Integer> members) implements Request {

		public RollCallReply {
			members = List.copyOf(members);
		}

	}

	/** What a rank has called, because it waits there or was asked. */
	record CallReported(CallReport post) implements Request {
	}

	/**
	 * What a rank has called in one group since its last word, in order; it may still be
	 * in the last of these.
	 */
	record CallsReported(List<CallReport> posts) implements Request {

		public CallsReported {
			posts = List.copyOf(posts);
		}

	}

	/** A rank comes to a labelled barrier. */
	record EnterBarrier(RoundEntry entry) implements LabelledRequest {
	}

	/** A rank announces a call at a label before it makes it. */
	record Announce(RoundEntry entry, CallSignature call) implements LabelledRequest {
	}

	/** A rank gives up waiting at a barrier or for others to announce a call. */
	record Withdraw(long ticket) implements LabelledRequest {
	}

	/**
	 * A rank has left a group in order.
	 *
	 * @param members the world ranks of the group, none for the one of all ranks
	 * @param lastCompleted the last collective that it completed there, -1 for none
	 */
	record LeftGroup(String group, List<Integer> members, long lastCompleted) implements Request {

		public LeftGroup {
			members = List.copyOf(members);
		}

	}

	/** The client of a tentative entry is still there. */
	record Confirmed(long ticket, int attempt) implements LabelledRequest {
	}

	/** A rank asks all to stop. */
	record RequestDrain(String reason) implements Request {
	}

	/** A rank asks all others for their accounts. */
	record QueryTraces(long ticket, int limit) implements Request {
	}

	/** A rank's account, for the rank that asked. */
	record TraceReply(int asker, long ticket, byte[] account) implements Request {
	}

	/**
	 * A rank leaves.
	 *
	 * @param cutOff why it gave rank 0 up for lost, {@code null} if it leaves in order
	 */
	record Leave(@Nullable String cutOff) implements Request {
	}

	/** The cause of a failure, the same for every rank. */
	record Verdict(Failure failure) implements Notice {
	}

	/** Asks for the last call that the rank has entered in a group. */
	record RollCall(long id, String group) implements Notice {
	}

	/** Asks for what the rank called at a place in a group's order. */
	record QueryCall(String group, long sequence) implements Notice {
	}

	/** Asks for the rank's account, which another rank wants. */
	record QueryTrace(int asker, long ticket, int limit) implements Notice {
	}

	/** The account of a rank, as this one asked. */
	record ForwardedTrace(long ticket, int rank, byte[] account) implements Notice {
	}

	/**
	 * Every rank has come: asks whether the client of a tentative entry is still there.
	 *
	 * @param attempt how often the round has come this far; the answer repeats it
	 */
	record Confirm(long ticket, int attempt) implements LabelledNotice {
	}

	/** How a labelled barrier ended for the rank. */
	record BarrierEnded(long ticket, BarrierOutcome outcome) implements LabelledNotice {
	}

	/** How a call that the rank announced was matched. */
	record Matched(long ticket, CallMatch match) implements LabelledNotice {
	}

	/** Ranks have left groups that the rank is in. */
	record Departed(List<Departure> departures) implements Notice {

		public Departed {
			departures = List.copyOf(departures);
		}

	}

	/** All are asked to stop. */
	record Drain(String reason) implements Notice {
	}

	/** What rank 0 knows of every rank, by rank. */
	record PeerUpdate(List<PeerLiveness> byRank) implements Notice {

		public PeerUpdate {
			byRank = List.copyOf(byRank);
		}

	}

	/** Rank 0 leaves. */
	record RankZeroLeft() implements Notice {
	}

}
