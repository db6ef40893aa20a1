package io.tutti.service.group;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import io.tutti.Collective;
import io.tutti.ProcessGroup;
import io.tutti.engine.control.ControlPlane;
import io.tutti.engine.control.diagnosis.RankTrace;
import io.tutti.engine.dispatch.CallTotals;
import io.tutti.engine.dispatch.DefaultProcessGroup;

/**
 * A group that has formed, with this rank in it.
 */
public interface JoinedGroup extends AutoCloseable {

	/** The group that holds every rank. */
	DefaultProcessGroup world();

	/** The control plane. */
	ControlPlane control();

	/** The groups that this rank is in, the one of all ranks among them. */
	List<DefaultProcessGroup> groups();

	/**
	 * Asks every rank what it has called lately; works while collectives hang.
	 * @param limit how many calls of each group are wanted at most
	 * @return by rank, this one included; who did not answer in time is not there
	 */
	Map<Integer, RankTrace> accounts(int limit, Duration timeout);

	/** What this rank has done of a collective, in groups that it has left too. */
	CallTotals totals(Collective collective);

	/** From now on the flight recorders remember who calls, or no longer. */
	void recordSites(boolean wanted);

	/** Who hears, with the reason, that some rank asked the whole group to stop. */
	void onDrain(Consumer<String> listener);

	/**
	 * Ends the group on every rank, with a reason that each of them will name. Where an
	 * MPI library carries the group this ends the process.
	 */
	void abort(String reason);

	/**
	 * Forms a further group of all ranks, beside the one of all ranks and outside its
	 * order of calls; every rank does so under the same name.
	 * @throws UnsupportedOperationException where the backend cannot
	 */
	ProcessGroup formBeside(String name);

	/** Leaves the group and gives everything back. */
	@Override
	void close();

}
