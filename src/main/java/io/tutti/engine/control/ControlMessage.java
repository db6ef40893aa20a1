package io.tutti.engine.control;

import java.util.ArrayList;
import java.util.List;

import io.tutti.Failure;
import io.tutti.engine.spi.CallReport;
import io.tutti.engine.spi.CallSignature;
import org.jspecify.annotations.Nullable;

/**
 * A message between rank 0 and another rank, classified by sender and phase.
 */
public sealed interface ControlMessage {

	/** A message of either side during rendezvous. */
	sealed interface RendezvousMessage extends ControlMessage {

	}

	/** The first message of a handshake, which states what the connection is for. */
	sealed interface ClientHello extends RendezvousMessage {

		/** The world rank that connects. */
		int rank();

	}

	/** A message that both sides send periodically. */
	sealed interface Heartbeat extends ControlMessage {

	}

	/** A message from a rank to rank 0. */
	sealed interface Request extends ControlMessage {

	}

	/** A request for a labelled barrier or for call matching. */
	sealed interface LabelledRequest extends Request {

	}

	/** A message from rank 0 to a rank. */
	sealed interface Notice extends ControlMessage {

	}

	/** A notice about a labelled barrier or about call matching. */
	sealed interface LabelledNotice extends Notice {

		/** Which request of the rank it concerns. */
		long ticket();

	}

	/**
	 * A rank's request to join.
	 *
	 * @param host where the rank accepts data connections
	 * @param hostChosen whether that host was configured; otherwise it is the local end
	 * of the rank's connection
	 */
	record Hello(String jobId, long generation, int rank, int worldSize, String host, boolean hostChosen, int dataPort,
			String hostIdentity) implements ClientHello {
	}

	/**
	 * A rank's request for a data connection.
	 *
	 * @param group name of the group
	 * @param generation the generation of the job
	 * @param rank the world rank that connects
	 * @param acceptor the world rank that accepts
	 */
	record DataHello(String group, long generation, int rank, int acceptor) implements ClientHello {
	}

	/**
	 * A connection to the formation endpoint of a member of an elastic job.
	 *
	 * @param rank slot of the member that connects
	 * @param member random id of its process
	 */
	record FormationHello(String jobId, int rank, String member) implements ClientHello {
	}

	/** A hello of another protocol version. */
	record ForeignHello(int version) implements RendezvousMessage {
	}

	/** Asks for a proof that the client knows the key, over these random bytes. */
	record Challenge(byte[] nonce) implements RendezvousMessage {

		public Challenge {
			requireProofSize(nonce);
		}

	}

	/**
	 * A client's proof that it knows the key.
	 *
	 * @param nonce random bytes for the answer
	 */
	record Proof(byte[] nonce, byte[] proof) implements RendezvousMessage {

		public Proof {
			requireProofSize(nonce);
			requireProofSize(proof);
		}

	}

	/** Accepts the client. The accepting side proves in turn that it knows the key. */
	record Welcome(byte[] proof) implements RendezvousMessage {

		public Welcome {
			requireProofSize(proof);
		}

	}

	/**
	 * Rejects the client.
	 *
	 * @param reason why no retry can succeed, or {@code null} if the client may try again
	 */
	record Refused(RendezvousException.@Nullable Reason reason, String message) implements RendezvousMessage {
	}

	/**
	 * The progress of rendezvous.
	 *
	 * @param over whether rank 0 has given up
	 */
	record Awaiting(MissingRanks absence, boolean over) implements RendezvousMessage {
	}

	/**
	 * All ranks have joined.
	 *
	 * @param keyNonce the nonce from which, with the token, the session key is derived
	 * @param sharedConfig the configuration that all ranks share, as set at rank 0
	 * @param peers by rank; an empty host for rank 0 stands for the address at which this
	 * rank reached it
	 */
	record Roster(long generation, byte[] keyNonce, String sharedConfig,
			List<PeerAddress> peers) implements RendezvousMessage {

		public Roster {
			requireProofSize(keyNonce);
			peers = List.copyOf(peers);
		}

		/**
		 * This roster with the address at which rank 0 was reached, unless rank 0 has
		 * configured one.
		 */
		public Roster withRankZeroAt(String host) {
			PeerAddress zero = this.peers.getFirst();
			if (!zero.host().isEmpty()) {
				return this;
			}
			List<PeerAddress> reachable = new ArrayList<>(this.peers);
			reachable.set(0, new PeerAddress(0, host, zero.port(), zero.hostIdentity()));
			return new Roster(this.generation, this.keyNonce, this.sharedConfig, reachable);
		}

	}

	/** Asks for a {@link Pong}. */
	record Ping(long sentNanos) implements Heartbeat {
	}

	/**
	 * Answers a ping with the time stamp of that ping.
	 *
	 * @param progress the last call that the rank has entered in each group
	 */
	record Pong(long sentNanos, List<RankProgress> progress) implements Heartbeat {

		public Pong {
			progress = List.copyOf(progress);
		}

	}

	/** A failure that a rank has observed. */
	record Report(Failure failure) implements Request {
	}

	/**
	 * Answers {@link QueryProgress}.
	 *
	 * @param inside whether the rank is still inside the last call that it has entered
	 * @param members the world ranks of the group, empty for the world group or if the
	 * rank does not know the group
	 */
	record ProgressReply(long id, long lastEntered, boolean inside, List<Integer> members) implements Request {

		public ProgressReply {
			members = List.copyOf(members);
		}

	}

	/**
	 * Calls of a rank in one group, in order.
	 *
	 * @param waits whether the rank waits in them or was asked for them. Otherwise these
	 * are all calls since its last report, of which the last may still be in progress.
	 */
	record CallsReported(List<CallReport> reports, boolean waits) implements Request {

		public CallsReported {
			reports = List.copyOf(reports);
		}

	}

	/**
	 * A rank enters a round of a label: a barrier, or a call that it announces before it
	 * makes it.
	 *
	 * @param ticket the rank's number for this wait
	 * @param label 1 to {@link ControlPlane#MAX_LABEL_CHARACTERS} characters
	 * @param round the named round, or {@link RoundWait#NEXT}
	 * @param tentative whether the rank waits on behalf of a client that may disconnect.
	 * Rank 0 then asks the rank for confirmation before the round completes.
	 * @param call the announced call, {@code null} at a barrier
	 */
	record EnterRound(long ticket, String label, long round, boolean tentative, long timeoutNanos,
			@Nullable CallSignature call) implements LabelledRequest {

		public EnterRound {
			int characters = label.length();
			if (characters < 1 || characters > ControlPlane.MAX_LABEL_CHARACTERS || round < RoundWait.NEXT
					|| timeoutNanos <= 0) {
				throw new IllegalArgumentException("a barrier with a label of " + characters + " characters, round "
						+ round + " and a timeout of " + timeoutNanos + " ns");
			}
		}

	}

	/** A rank stops waiting at a barrier or for a call match. */
	record Withdraw(long ticket) implements LabelledRequest {
	}

	/**
	 * A rank has left a group in order.
	 *
	 * @param members the world ranks of the group, empty for the world group
	 * @param lastCompleted the last collective that it completed there, -1 for none
	 * @param lastCall that collective, {@code null} for none
	 */
	record LeftGroup(String group, List<Integer> members, long lastCompleted,
			@Nullable CallReport lastCall) implements Request {

		public LeftGroup {
			members = List.copyOf(members);
		}

	}

	/** Asks to stop: a rank asks for every rank, and rank 0 asks each of them. */
	record Drain(String reason) implements Request, Notice {
	}

	/** A rank asks all other ranks for their traces. */
	record QueryTraces(long ticket, int limit) implements Request {
	}

	/** A rank's trace, for the rank that asked. */
	record TraceReply(int requester, long ticket, byte[] trace) implements Request {
	}

	/**
	 * A rank leaves.
	 *
	 * @param reason why it cannot stay, {@code null} if it leaves in order
	 * @param cutOff whether the reason is that it took rank 0 for lost
	 */
	record Leave(@Nullable String reason, boolean cutOff) implements Request {

		/** A rank leaves in order. */
		public static Leave inOrder() {
			return new Leave(null, false);
		}

	}

	/** The cause of a failure, the same for every rank. */
	record Verdict(Failure failure) implements Notice {
	}

	/** Asks for the last call that the rank has entered in a group. */
	record QueryProgress(long id, String group) implements Notice {
	}

	/** Asks which call the rank made at a sequence number of a group. */
	record QueryCall(String group, long sequence) implements Notice {
	}

	/** Asks for the rank's trace on behalf of another rank. */
	record QueryTrace(int requester, long ticket, int limit) implements Notice {
	}

	/** The trace of another rank, which this rank has asked for. */
	record ForwardedTrace(long ticket, int rank, byte[] trace) implements Notice {
	}

	/**
	 * Asks whether the client of a tentative entry is still connected, after every rank
	 * has entered. The rank returns the message if it is.
	 *
	 * @param attempt how often the round has come this far
	 */
	record Confirm(long ticket, int attempt) implements LabelledRequest, LabelledNotice {
	}

	/** The outcome of a labelled barrier, or of matching the announced calls. */
	record RoundEnded(long ticket, CallMatch match) implements LabelledNotice {
	}

	/** Ranks have left groups that the rank is in. */
	record Departed(List<Departure> departures) implements Notice {

		public Departed {
			departures = List.copyOf(departures);
		}

	}

	/** The liveness of every rank as seen by rank 0, by rank. */
	record PeerUpdate(List<PeerLiveness> byRank) implements Notice {

		public PeerUpdate {
			byRank = List.copyOf(byRank);
		}

	}

	/**
	 * Rank 0 leaves.
	 *
	 * @param lastCall the last collective that it completed in the group of all ranks,
	 * {@code null} for none
	 */
	record RankZeroLeft(@Nullable CallReport lastCall) implements Notice {
	}

	/**
	 * A nonce has as many bytes as a proof, so that their concatenation is unambiguous.
	 */
	private static void requireProofSize(byte[] bytes) {
		if (bytes.length != SessionKey.PROOF_BYTES) {
			throw new IllegalArgumentException(
					"a nonce or proof must have " + SessionKey.PROOF_BYTES + " bytes, got " + bytes.length);
		}
	}

}
