package io.tutti.engine.algorithm.hierarchical;

import io.tutti.Collective;
import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.spi.Call;

/**
 * Runs parts of a call among the ranks of one level: those of one host, or one rank of
 * each host. The call object is reused, so a call allocates nothing.
 */
final class LevelCollectives {

	private final Algorithm level;

	private final int size;

	private final int self;

	private final Call part;

	/**
	 * @param size number of ranks in the level
	 * @param self position of this rank among them; roots are positions, too
	 */
	LevelCollectives(Algorithm level, int size, int self) {
		this.level = level;
		this.size = size;
		this.self = self;
		this.part = Call.forParts(size);
	}

	int size() {
		return this.size;
	}

	int self() {
		return this.self;
	}

	boolean leads() {
		return this.self == 0;
	}

	void barrier(Call call) {
		this.level.run(this.part.partOf(call, Collective.BARRIER, 0, 0));
	}

	/**
	 * Runs a collective without a root, or a broadcast or reduction from or to rank 0.
	 */
	void run(Collective collective, Call call, long count, long source, long target) {
		run(collective, call, count, 0, source, target);
	}

	/**
	 * Runs a collective on a part of a call. Only ranks that the collective gives a
	 * result write the target.
	 * @param count number of elements, as {@link Call#count()}
	 */
	void run(Collective collective, Call call, long count, int root, long source, long target) {
		long bytes = count * call.type().bytes();
		boolean scattering = collective == Collective.REDUCE_SCATTER;
		boolean gathering = collective == Collective.ALL_GATHER || collective == Collective.GATHER;
		boolean receiving = this.self == root || (collective != Collective.REDUCE && collective != Collective.GATHER);
		long received = gathering ? bytes * this.size : bytes;
		this.part.partOf(call, collective, count, root);
		this.part.place(source, scattering ? bytes * this.size : bytes, target, receiving ? received : 0);
		this.level.run(this.part);
	}

}
