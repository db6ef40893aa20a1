package io.tutti.engine.elastic;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;

import io.tutti.Failure;
import io.tutti.engine.control.MalformedFrameException;
import io.tutti.engine.control.RecordCodec;
import org.jspecify.annotations.Nullable;

/**
 * A message between two members about a formation. A frame is its length (4 bytes), the
 * type (1 byte) and the components as {@link RecordCodec} encodes them.
 */
sealed interface FormationMessage {

	/** Maximum frame size: some thousand members. */
	int MAX_FRAME_BYTES = 1 << 20;

	/** The type byte of a message is its place in this list. */
	List<Class<? extends FormationMessage>> TYPES = List.of(AskStatus.class, Status.class, Join.class, Wait.class,
			Propose.class, Accepted.class, Commit.class, Joined.class, NoQuorum.class);

	/** What a member does. */
	enum Phase {

		/** It has no group yet, or its group has broken. */
		FORMING,
		/** Its group runs. */
		RUNNING,
		/** Its loop and those of all other ranks have returned. */
		DONE

	}

	/**
	 * One process in a slot.
	 *
	 * @param slot the rank that the launcher gave the process
	 * @param id random id of the process
	 * @param hostIdentity identifies its host
	 */
	record Member(int slot, String id, String hostIdentity) {

		public Member {
			if (slot < 0 || id.isBlank() || id.length() > 64) {
				throw new IllegalArgumentException(
						"a member with slot " + slot + " and an id of " + id.length() + " characters");
			}
		}

	}

	/**
	 * The members of one generation.
	 *
	 * @param generation number of the generation
	 * @param id random id
	 * @param members by rank, in order of their slots
	 */
	record Formation(long generation, String id, List<Member> members) {

		public Formation {
			members = List.copyOf(members);
			if (generation < 0 || id.isBlank() || id.length() > 64 || members.isEmpty()) {
				throw new IllegalArgumentException(
						"a formation of generation " + generation + " with " + members.size() + " members");
			}
			for (int rank = 1; rank < members.size(); rank++) {
				if (members.get(rank - 1).slot() >= members.get(rank).slot()) {
					throw new IllegalArgumentException("the members of a formation must be in order of their slots");
				}
			}
		}

		/** The slots of the members, by rank. */
		List<Integer> slots() {
			return this.members.stream().map(Member::slot).toList();
		}

		/** A rank with its slot where the two differ. */
		String nameOf(int rank) {
			int slot = this.members.get(rank).slot();
			return "rank " + rank + ((slot != rank) ? " (launched as " + slot + ")" : "");
		}

		/**
		 * The failure with the slots of its ranks in its detail, where the two differ.
		 */
		Failure withSlots(Failure failure) {
			String moved = failure.ranks()
				.stream()
				.filter((rank) -> rank >= 0 && rank < this.members.size() && this.members.get(rank).slot() != rank)
				.map((rank) -> "rank " + rank + " was launched as " + this.members.get(rank).slot())
				.collect(Collectors.joining(", "));
			return moved.isEmpty() ? failure : failure.withDetail(failure.detail() + " (" + moved + ")");
		}

	}

	/**
	 * Asks for a {@link Status}.
	 *
	 * @param left id of the generation that the asking member has left after a failure,
	 * {@code null} for none
	 * @param failure that failure; its ranks are those of the generation
	 */
	record AskStatus(@Nullable String left, @Nullable Failure failure) implements FormationMessage {
	}

	/**
	 * What a member does.
	 *
	 * @param base the last generation that it has formed, {@code null} for none
	 */
	record Status(Member member, Phase phase, @Nullable Formation base) implements FormationMessage {
	}

	/**
	 * Asks to take part in the next generation.
	 *
	 * @param base the last generation that the member has formed, {@code null} for none
	 * @param accepted formations that it has accepted since, which may have formed; of
	 * those with the same members the newest
	 * @param acceptedGeneration highest generation that it has accepted, -1 for none
	 * @param dead ids of members of its base whose process is known to be dead
	 */
	record Join(Member member, @Nullable Formation base, List<Formation> accepted, long acceptedGeneration,
			List<String> dead) implements FormationMessage {

		public Join {
			accepted = List.copyOf(accepted);
			dead = List.copyOf(dead);
		}

		/** The highest generation that the member has accepted or formed, -1 for none. */
		long newestGeneration() {
			return Math.max(this.acceptedGeneration, (this.base != null) ? this.base.generation() : -1);
		}

	}

	/** The member that was asked is alive and has not decided yet. */
	record Wait() implements FormationMessage {
	}

	/**
	 * Proposes a generation.
	 *
	 * @param baseId id of the generation that it continues, {@code null} at the founding
	 * @param trial whether processes join, so that it has formed only when its ranks have
	 * exchanged data
	 */
	record Propose(Formation formation, @Nullable String baseId, boolean trial) implements FormationMessage {
	}

	/** What a member answers to a proposal. */
	sealed interface Reply extends FormationMessage {

		/** Id of the formation. */
		String formation();

	}

	/**
	 * The member accepts the proposal, and no other one of its generation.
	 *
	 * @param port a free port of its host, where it listens if it becomes rank 0
	 */
	record Accepted(String formation, int port) implements Reply {

		public Accepted {
			requirePort(port);
		}

	}

	/**
	 * All members have accepted.
	 *
	 * @param port the rendezvous port at the host of rank 0
	 */
	record Commit(String formation, int port) implements FormationMessage {

		public Commit {
			requirePort(port);
		}

	}

	/** The member has joined the group, or the leader has. */
	record Joined(String formation) implements Reply {
	}

	/**
	 * The members that the leader reaches may not continue.
	 *
	 * @param missing the slots without which they may not
	 */
	record NoQuorum(String reason, List<Integer> missing) implements FormationMessage {

		public NoQuorum {
			missing = List.copyOf(missing);
		}

	}

	private static void requirePort(int port) {
		if (port < 1 || port > 65535) {
			throw new IllegalArgumentException("a port must be in 1..65535, got " + port);
		}
	}

	/** A random id of 128 bits. */
	static String randomId() {
		byte[] id = new byte[16];
		new SecureRandom().nextBytes(id);
		return HexFormat.of().formatHex(id);
	}

	/** Encodes a message as a frame, including the length. */
	static ByteBuffer encode(FormationMessage message) {
		byte[] components = RecordCodec.encode((Record) message);
		if (Byte.BYTES + components.length > MAX_FRAME_BYTES) {
			throw new IllegalStateException("a message " + message.getClass().getSimpleName() + " of "
					+ components.length + " bytes; messages of a formation have at most " + MAX_FRAME_BYTES
					+ ": the job has too many ranks");
		}
		return ByteBuffer.allocate(Integer.BYTES + Byte.BYTES + components.length)
			.putInt(Byte.BYTES + components.length)
			.put((byte) TYPES.indexOf(message.getClass()))
			.put(components)
			.flip();
	}

	/**
	 * Decodes the message of a frame.
	 * @param payload the frame without its length
	 * @throws MalformedFrameException if the bytes are not a valid message
	 */
	static FormationMessage decode(ByteBuffer payload) throws MalformedFrameException {
		int type = payload.hasRemaining() ? payload.get() : -1;
		if (type < 0 || type >= TYPES.size()) {
			throw new MalformedFrameException("no formation message has type " + type);
		}
		return RecordCodec.decode(TYPES.get(type), payload);
	}

}
