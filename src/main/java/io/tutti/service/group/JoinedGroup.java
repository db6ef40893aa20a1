package io.tutti.service.group;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import io.tutti.Collective;
import io.tutti.ProcessGroup;
import io.tutti.engine.control.ControlPlane;
import io.tutti.engine.diagnosis.RankTrace;
import io.tutti.engine.dispatch.CallTotals;
import io.tutti.engine.dispatch.DefaultProcessGroup;

/**
 * A group that has formed and contains this rank.
 */
public interface JoinedGroup extends AutoCloseable {

	/** The group of all ranks. */
	DefaultProcessGroup world();

	/** The control plane. */
	ControlPlane control();

	/** The groups that contain this rank, including the group of all ranks. */
	List<DefaultProcessGroup> groups();

	/**
	 * Queries every rank for its recent calls. Works while collectives hang.
	 * @param limit the maximum number of calls per group
	 * @return the traces by rank, including this rank; ranks that do not answer in time
	 * are missing
	 */
	Map<Integer, RankTrace> accounts(int limit, Duration timeout);

	/** This rank's totals of a collective, including groups that it has left. */
	CallTotals totals(Collective collective);

	/** Turns the recording of call sites in the flight recorders on or off. */
	void recordSites(boolean wanted);

	/** Registers a listener for drain requests, which receives the reason. */
	void onDrain(Consumer<String> listener);

	/**
	 * Registers a listener for the ranks that leave the group in order. It is called at
	 * once for those that have left before, possibly twice, and must return quickly.
	 */
	void onDeparture(Consumer<Integer> listener);

	/**
	 * Aborts the group on every rank; each rank reports the reason. Where an MPI library
	 * carries the group, this ends the process.
	 */
	void abort(String reason);

	/**
	 * Forms a second group of all ranks with a call order of its own. Every rank must
	 * call this with the same name.
	 * @throws UnsupportedOperationException if the backend cannot form one
	 */
	ProcessGroup formBeside(String name);

	/** Leaves the group and releases its resources. */
	@Override
	void close();

}
