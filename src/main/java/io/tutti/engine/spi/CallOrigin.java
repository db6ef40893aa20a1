package io.tutti.engine.spi;

import java.io.Serializable;
import java.util.List;

import io.tutti.Collective;
import io.tutti.Failure;
import org.jspecify.annotations.Nullable;

/**
 * The place of a failure that leaves the group usable, or that happens after its end.
 *
 * @param rank the rank, among all ranks of the job, that throws
 * @param worldSize number of ranks of the job
 * @param peers the ranks of the job that the failure is about
 * @param group name of the group
 * @param collective the collective, {@code null} outside of one
 * @param sequence number of the collective in the group, -1 if it was not issued
 */
public record CallOrigin(int rank, int worldSize, List<Integer> peers, String group, @Nullable Collective collective,
		long sequence) implements Failure.Origin, Serializable {

	public CallOrigin {
		peers = List.copyOf(peers);
	}

	/** A place in a group outside of collectives, about no other rank. */
	public static CallOrigin in(GroupIdentity identity) {
		return about(identity, List.of());
	}

	/**
	 * A place in a group outside of collectives.
	 * @param peers ranks of the group that the failure is about
	 */
	public static CallOrigin about(GroupIdentity identity, List<Integer> peers) {
		return new CallOrigin(identity.worldRank(), identity.jobSize(),
				peers.stream().map(identity.members()::get).toList(), identity.name(), null, -1);
	}

	/** The same place in a collective that was not issued. */
	public CallOrigin of(Collective refused) {
		return of(refused, -1);
	}

	/** The same place in a collective. */
	public CallOrigin of(Collective call, long number) {
		return new CallOrigin(this.rank, this.worldSize, this.peers, this.group, call, number);
	}

	/** How messages begin, such as {@code rank 1: all-reduce #7 of group world: }. */
	String start() {
		String call = (this.collective == null) ? ""
				: this.collective + ((this.sequence < 0) ? "" : " #" + this.sequence) + " of ";
		return "rank " + this.rank + ": " + call + "group " + this.group + ": ";
	}

	/** An exception that has such a place. */
	interface Holder extends Failure.Origin {

		CallOrigin origin();

		@Override
		default int rank() {
			return origin().rank();
		}

		@Override
		default int worldSize() {
			return origin().worldSize();
		}

		@Override
		default List<Integer> peers() {
			return origin().peers();
		}

		@Override
		default String group() {
			return origin().group();
		}

		@Override
		default @Nullable Collective collective() {
			return origin().collective();
		}

		@Override
		default long sequence() {
			return origin().sequence();
		}

	}

}
