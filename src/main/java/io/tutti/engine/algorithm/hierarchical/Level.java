package io.tutti.engine.algorithm.hierarchical;

import io.tutti.engine.Call;
import io.tutti.engine.NativeMemory;

/**
 * Some ranks of a group among whom whole collectives can be carried out: those of one
 * host, or one of each host.
 */
@FunctionalInterface
public interface Level {

	/** A level of one rank: every collective is the identity. */
	Level ALONE = (part) -> {
		if (part.sendAddress() != part.receiveAddress()) {
			NativeMemory.copy(part.sendAddress(), part.receiveAddress(), part.receiveBytes());
		}
	};

	/**
	 * Carries out a part of a call among these ranks.
	 * @throws io.tutti.engine.CollectiveException if it failed; the group is then broken
	 */
	void run(Call part);

}
