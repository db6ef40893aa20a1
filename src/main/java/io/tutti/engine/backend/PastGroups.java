package io.tutti.engine.backend;

import java.util.EnumMap;
import java.util.Map;

import io.tutti.Collective;
import io.tutti.engine.dispatch.CallTotals;
import io.tutti.engine.dispatch.DefaultProcessGroup;

/**
 * Totals of the groups that this rank has left, so that counters never decrease. Groups
 * in which ranks choose transports are not counted, since their collectives are not the
 * application's. For one thread at a time.
 */
final class PastGroups {

	private final Map<Collective, CallTotals> totals = new EnumMap<>(Collective.class);

	static boolean isCounted(DefaultProcessGroup group) {
		return !group.name().endsWith(Groups.FORMING);
	}

	void add(DefaultProcessGroup group) {
		if (!isCounted(group)) {
			return;
		}
		for (Collective collective : Collective.values()) {
			this.totals.merge(collective, group.recorder().totals(collective), CallTotals::plus);
		}
	}

	CallTotals totals(Collective collective) {
		return this.totals.getOrDefault(collective, CallTotals.NONE);
	}

}
