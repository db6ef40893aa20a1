package io.tutti.engine.backend;

import java.util.EnumMap;
import java.util.Map;

import io.tutti.Collective;
import io.tutti.engine.dispatch.CallTotals;
import io.tutti.engine.dispatch.DefaultProcessGroup;

/**
 * What was done in groups that this rank has left: counters never go back. How ranks
 * agreed on what carries a group is none of the application's collectives.
 */
final class PastGroups {

	private final Map<Collective, CallTotals> totals = new EnumMap<>(Collective.class);

	synchronized void add(DefaultProcessGroup group) {
		if (group.name().endsWith(Groups.FORMING)) {
			return;
		}
		for (Collective collective : Collective.values()) {
			this.totals.merge(collective, group.recorder().totals(collective), CallTotals::plus);
		}
	}

	synchronized CallTotals totals(Collective collective) {
		return this.totals.getOrDefault(collective, CallTotals.NONE);
	}

}
