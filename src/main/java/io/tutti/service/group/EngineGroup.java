package io.tutti.service.group;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import io.tutti.BackendUnavailableException;
import io.tutti.Collective;
import io.tutti.ProcessGroup;
import io.tutti.engine.backend.Backend;
import io.tutti.engine.backend.Engine;
import io.tutti.engine.control.ControlPlane;
import io.tutti.engine.diagnosis.RankTrace;
import io.tutti.engine.dispatch.CallTotals;
import io.tutti.engine.dispatch.DefaultProcessGroup;
import io.tutti.ExitCode;

/**
 * A group that the engine has formed with other processes.
 */
record EngineGroup(Engine engine) implements JoinedGroup {

	static GroupJoiner joiner(Backend backend) {
		return (assignment, settings, listener) -> {
			try {
				return new EngineGroup(backend.join(assignment, settings, listener));
			}
			catch (BackendUnavailableException ex) {
				throw ex.onRank(assignment.rank(), assignment.worldSize());
			}
		};
	}

	@Override
	public DefaultProcessGroup world() {
		return this.engine.world();
	}

	@Override
	public ControlPlane control() {
		return this.engine.control();
	}

	@Override
	public List<DefaultProcessGroup> groups() {
		return this.engine.groups();
	}

	@Override
	public Map<Integer, RankTrace> accounts(int limit, Duration timeout) {
		return this.engine.accounts(limit, timeout);
	}

	@Override
	public CallTotals totals(Collective collective) {
		return this.engine.totals(collective);
	}

	@Override
	public void recordSites(boolean wanted) {
		this.engine.recordSites(wanted);
	}

	@Override
	public void onDrain(Consumer<String> listener) {
		this.engine.onDrain(listener);
	}

	@Override
	public void onDeparture(Consumer<Integer> listener) {
		this.engine.onDeparture(listener);
	}

	@Override
	public void abort(String reason) {
		this.engine.abort(ExitCode.ABORTED, reason);
	}

	@Override
	public ProcessGroup formBeside(String name) {
		return this.engine.formBeside(name);
	}

	@Override
	public void close() {
		this.engine.close();
	}

}
