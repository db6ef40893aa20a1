package io.tutti.engine.backend;

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

	/**
	 * Identifies this generation of this run of the job: the same on every rank, and
	 * different for any other run, also one of the same job id.
	 */
	String runId();

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

	/**
	 * Switches the recording of call sites on or off, for all current and later groups;
	 * see {@link io.tutti.engine.dispatch.FlightRecorder#recordSites}.
	 */
	void recordSites(boolean wanted);

	/**
	 * Sets the listener for a request to stop the whole group at its next step boundary,
	 * which receives the reason. Called on the control plane's thread, or at once if the
	 * request came before.
	 */
	void onDrain(Consumer<String> listener);

	/**
	 * Sets the listener for each rank that leaves the job in order. Called on the control
	 * plane's thread, and at once for ranks that left before, possibly twice; it must
	 * return quickly.
	 */
	void onDeparture(Consumer<Integer> listener);

	/**
	 * Ends the job: every rank's calls fail with the reason. On an MPI library,
	 * {@code MPI_Abort} follows, which does not return.
	 * @param code exit code of the ranks, in 1..255
	 */
	void abort(int code, String reason);

	/**
	 * Forms another group of all ranks with its own connections and call order. Every
	 * rank calls this with the same name at about the same time; the caller coordinates
	 * that.
	 * @throws UnsupportedOperationException if the groups run on an MPI library
	 */
	ProcessGroup formBeside(String name);

	/**
	 * Leaves the group and releases all resources, also if the release of some fails.
	 */
	@Override
	void close();

}
