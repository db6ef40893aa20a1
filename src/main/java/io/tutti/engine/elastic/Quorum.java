package io.tutti.engine.elastic;

import java.util.Collection;
import java.util.TreeSet;

import io.tutti.engine.elastic.ElasticSettings.QuorumRule;

/**
 * Decides whether some members of a generation may continue it without the others. Two
 * disjoint sets of live members never both may, whatever each knows of the dead: at least
 * half of the members minus those known to be dead must be present, and for exactly half
 * the lowest member that counts must be among them.
 */
final class Quorum {

	private Quorum() {
	}

	/**
	 * Whether the present members may continue.
	 * @param members slots of all members of the generation
	 * @param present slots of the members that take part
	 * @param dead slots of members whose process has ended
	 */
	static boolean continues(Collection<Integer> members, Collection<Integer> present, Collection<Integer> dead,
			QuorumRule rule) {
		TreeSet<Integer> count = new TreeSet<>(members);
		if (rule == QuorumRule.LIVE) {
			count.removeIf((slot) -> dead.contains(slot) && !present.contains(slot));
		}
		long here = count.stream().filter(present::contains).count();
		return 2 * here > count.size() || (here > 0 && 2 * here == count.size() && present.contains(count.first()));
	}

}
