package io.tutti.engine.elastic;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

import io.tutti.CollectiveException;
import io.tutti.DataType;
import io.tutti.ElasticEvent;
import io.tutti.ElasticState;
import io.tutti.Failure;
import io.tutti.ProcessGroup;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.Sha256;

/**
 * What this rank's state is worth, from generation to generation. When a generation has
 * formed, the ranks compare step and hash of their states, and those that are new, behind
 * or different take the newest state. If ranks have made the same steps and differ
 * nevertheless, that is the one that most of them hold.
 */
final class StateAgreement {

	/** What the state of a rank is worth, in order. */
	private enum Held {

		/** Stale, or partly overwritten by a transfer whose source was lost. */
		NONE,
		/** As the founders began. Counts while no rank has a shared state. */
		INITIAL,
		/** Equal on all ranks at the step that it states. */
		SHARED

	}

	private static final int HASH_BYTES = 32;

	/** What one rank reports of its state. */
	private record Summary(Held held, long step, byte[] hash) {

		static final int BYTES = Byte.BYTES + Long.BYTES + HASH_BYTES;

		static Summary decode(ByteBuffer in) {
			byte[] hash = new byte[HASH_BYTES];
			Summary decoded = new Summary(Held.values()[in.get()], in.getLong(), hash);
			in.get(hash);
			return decoded;
		}

		byte[] encode() {
			return ByteBuffer.allocate(BYTES).put((byte) this.held.ordinal()).putLong(this.step).put(this.hash).array();
		}

		boolean isAsNewAs(Summary other) {
			return this.held == other.held && this.step == other.step;
		}

		boolean sameAs(Summary other) {
			return this.step == other.step && Arrays.equals(this.hash, other.hash);
		}

	}

	private final ElasticEngine elastic;

	private Held held = Held.INITIAL;

	/**
	 * What this rank's state may be after a transfer that has not ended: what it was
	 * before, or that of the source. Empty if no transfer was interrupted.
	 */
	private List<Summary> possible = List.of();

	StateAgreement(ElasticEngine elastic) {
		this.elastic = elastic;
	}

	/**
	 * Brings all ranks to the newest state.
	 * @return whether there is one: {@code false} on every rank if the ranks that held it
	 * were lost before another had received all of it
	 */
	boolean agree(ProcessGroup group, ElasticState state) {
		this.held = switch (this.elastic.origin()) {
			case FOUNDED -> (this.held == Held.INITIAL) ? Held.INITIAL : Held.NONE;
			case CONTINUED -> this.held;
			case JOINED -> Held.NONE;
		};
		Summary own = summary(state);
		if (!this.possible.isEmpty() && this.possible.stream().noneMatch(own::sameAs)) {
			this.held = Held.NONE;
			own = new Summary(this.held, own.step(), own.hash());
		}
		List<Summary> all = gather(group, own);
		int source = source(all);
		Summary newest = all.get(source);
		if (newest.held() == Held.NONE) {
			return false;
		}
		List<Integer> receivers = differing(all, source);
		if (group.rank() == 0) {
			warnOfDiverged(all, source, receivers);
		}
		if (!receivers.isEmpty()) {
			if (receivers.contains(group.rank())) {
				this.possible = List.of(own, newest);
			}
			synchronize(group, state, source, newest);
			List<Integer> slots = this.elastic.slots();
			this.elastic.publish(new ElasticEvent.Synchronized(group.generation(), slots.get(source),
					receivers.stream().map(slots::get).toList(), newest.step()));
		}
		this.held = Held.SHARED;
		this.possible = List.of();
		return true;
	}

	private Summary summary(ElasticState state) {
		return new Summary(this.held, state.step(), Sha256.of(state.digest()));
	}

	private static List<Summary> gather(ProcessGroup group, Summary own) {
		byte[] all = new byte[group.worldSize() * Summary.BYTES];
		group.allGather(MemorySegment.ofArray(own.encode()), MemorySegment.ofArray(all), DataType.UINT8);
		ByteBuffer in = ByteBuffer.wrap(all);
		return IntStream.range(0, group.worldSize()).mapToObj((_) -> Summary.decode(in)).toList();
	}

	/**
	 * The lowest rank of those with the highest step whose state is worth most. If they
	 * have shared a state and differ nevertheless, most of them decide, and the lowest of
	 * as many.
	 */
	private static int source(List<Summary> all) {
		Summary newest = all.stream()
			.max(Comparator.comparing(Summary::held).thenComparing(Summary::step))
			.orElseThrow();
		List<Integer> candidates = GroupIdentity.ranksWhere(all.size(), (rank) -> all.get(rank).isAsNewAs(newest));
		if (newest.held() != Held.SHARED) {
			return candidates.getFirst();
		}
		Comparator<Integer> byVotes = Comparator.comparingLong(
				(rank) -> candidates.stream().filter((other) -> all.get(other).sameAs(all.get(rank))).count());
		return candidates.stream().max(byVotes.thenComparing(Comparator.reverseOrder())).orElseThrow();
	}

	private void warnOfDiverged(List<Summary> all, int source, List<Integer> receivers) {
		Summary newest = all.get(source);
		List<Integer> slots = this.elastic.slots();
		List<Integer> diverged = receivers.stream()
			.filter((rank) -> newest.held() == Held.SHARED && all.get(rank).isAsNewAs(newest))
			.map(slots::get)
			.toList();
		if (!diverged.isEmpty()) {
			this.elastic.warn("the state of ranks " + diverged + " at step " + newest.step()
					+ " differs from that of rank " + slots.get(source)
					+ ", which they take now. If this repeats, check their hosts: faulty memory, and another processor"
					+ " or library, change results");
		}
	}

	private static List<Integer> differing(List<Summary> all, int source) {
		return GroupIdentity.ranksWhere(all.size(), (rank) -> !all.get(rank).sameAs(all.get(source)));
	}

	private void synchronize(ProcessGroup group, ElasticState state, int source, Summary newest) {
		state.synchronize(group, source);
		Summary own = summary(state);
		if (own.sameAs(newest)) {
			// Also if another rank is lost before all have compared their states.
			this.held = Held.SHARED;
		}
		List<Integer> still = differing(gather(group, own), source);
		if (!still.isEmpty()) {
			throw CollectiveException.of(group.rank(), group.worldSize(), Failure
				.outside(Failure.Kind.MISMATCH, group.name(), still, "the state of ranks " + still
						+ " differs from that of rank " + source
						+ " after it was synchronized: ElasticState.synchronize and digest must cover the same state"),
					null);
		}
	}

}
