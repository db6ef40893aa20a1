package io.tutti.training.checkpoint;

import java.util.List;
import java.util.Optional;

import io.tutti.ExitCode;
import io.tutti.ProcessGroup;

/**
 * Result of rank 0's check for a checkpoint, which rank 0 broadcasts to all ranks.
 *
 * @param exitCode exit code of a rejection, else {@link ExitCode#DONE}
 * @param rejection why the job cannot continue from the checkpoint or use the directory;
 * empty if it can
 * @param checkpoint the checkpoint, whose tensors follow; empty if there is none
 */
record CheckpointLookup(int exitCode, String rejection, Optional<Contents> checkpoint) {

	/** Broadcasts rank 0's result to every rank. A collective call. */
	CheckpointLookup broadcast(ProcessGroup group) {
		return SafetensorsFormat.MAPPER.readValue(
				StateBroadcast.broadcast(0, group, SafetensorsFormat.MAPPER.writeValueAsBytes(this)),
				CheckpointLookup.class);
	}

	/** Requires that the checkpoint was not rejected. */
	void requireAccepted() {
		if (!this.rejection.isEmpty()) {
			throw CheckpointException.onEveryRank(this.exitCode, this.rejection, null);
		}
	}

	/**
	 * Description of a checkpoint, which precedes the data of its tensors.
	 *
	 * @param name name of its directory
	 * @param progress progress of its job
	 * @param model the model's parameters and buffers
	 * @param optimizer the optimizer's tensors
	 */
	record Contents(String name, Progress progress, List<TensorHeader> model, List<TensorHeader> optimizer) {
	}

}
