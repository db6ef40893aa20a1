package io.tutti.engine.algorithm.hierarchical;

import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;

/**
 * A subset of a group's ranks that runs whole collectives: the ranks of one host, or one
 * rank of each host.
 */
@FunctionalInterface
public interface Level {

	/** A level of one rank: every collective copies the operand to the result. */
	Level ALONE = (part) -> {
		if (part.sendAddress() != part.receiveAddress()) {
			NativeMemory.copy(part.sendAddress(), part.receiveAddress(), part.receiveBytes());
		}
	};

	/**
	 * Runs a part of a call among these ranks.
	 * @throws io.tutti.CollectiveException if it fails; the group is then broken
	 */
	void run(Call part);

}
