package io.tutti.engine.backend;

import java.time.Duration;
import java.util.List;

import io.tutti.CollectiveListener;
import io.tutti.FreePort;
import io.tutti.ProcessGroup;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.nccl.NcclBootstrap;
import io.tutti.engine.backend.nccl.ScriptedGpus;

/**
 * Whole ranks with the backend for device memory: real rendezvous, control plane and TCP,
 * a scripted NCCL on top.
 */
public final class ScriptedGpuRanks {

	private ScriptedGpuRanks() {
	}

	/** A rank's task. */
	public interface Task<T> {

		/** Runs on the rank's own thread, with the group of all ranks. */
		T on(ProcessGroup group) throws Exception;

	}

	/** Runs a task on every rank; throws the first failure, if any. */
	public static <T> List<T> run(ScriptedGpus gpus, int worldSize, Duration limit, Task<T> task) throws Exception {
		int port = FreePort.next();
		return RankThreads.run(worldSize, limit, (rank) -> {
			try (Engine engine = join(new RankAssignment(rank, worldSize, rank, worldSize, "127.0.0.1", port),
					gpus.bootstrap(rank))) {
				return task.on(engine.world());
			}
		});
	}

	/** A rank with this setup of its communicator. */
	public static Engine join(RankAssignment assignment, NcclBootstrap nccl) {
		return Engine.bootstrap(assignment, EngineSettings.DEFAULTS.withBackend("nccl", null), CollectiveListener.NONE,
				nccl::over);
	}

}
