package io.tutti.training.job;

import java.security.SecureRandom;
import java.util.function.Consumer;

import io.tutti.ElasticState;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.training.ReplicaMismatchException;
import io.tutti.training.checkpoint.ModelState;
import io.tutti.training.checkpoint.StateBroadcast;
import org.jspecify.annotations.Nullable;

/**
 * The state of a training job on this rank: the replica and the record of the job. It
 * outlives the groups of an elastic job. The state of the random generator is no part of
 * it, since each step derives it from the seed, the step and the rank.
 */
final class TrainingState implements ElasticState, AutoCloseable {

	private final Replica replica;

	private final Consumer<ProcessGroup> sameJob;

	private JobRecord current = JobRecord.START;

	private long lastBegun;

	/** Staging memory, only of an elastic job. */
	private @Nullable ModelState model;

	/**
	 * @param sameJob throws if the ranks of a group run different jobs; a collective call
	 */
	TrainingState(Replica replica, Consumer<ProcessGroup> sameJob) {
		this.replica = replica;
		this.sameJob = sameJob;
	}

	Replica replica() {
		return this.replica;
	}

	JobRecord current() {
		return this.current;
	}

	void become(JobRecord next) {
		this.current = next;
	}

	/** This rank begins a step, counted from 1. */
	void begin(long step) {
		this.lastBegun = step;
	}

	/**
	 * A generation of an elastic group begins. The ranks agree on the id of the job, and
	 * count the step that some of them have begun and none has completed. A collective
	 * call.
	 */
	void enter(ProcessGroup group) {
		long known = this.current.job();
		long id = (known == 0 && group.rank() == 0) ? new SecureRandom().nextLong(1, Long.MAX_VALUE) : known;
		long[] all = { id, Math.max(0, this.lastBegun - step()) };
		group.allReduce(all, ReduceOp.MAX);
		this.lastBegun = step();
		this.current = this.current.atNextGeneration(all[0], this.current.repeatedSteps() + all[1]);
	}

	@Override
	public long step() {
		return this.current.progress().step();
	}

	@Override
	public void rollback() {
		this.replica.rollback();
	}

	@Override
	public void synchronize(ProcessGroup group, int source) {
		try {
			this.sameJob.accept(group);
			this.current = broadcast().from(source, group, this.current, JobRecord.class);
		}
		catch (ReplicaMismatchException ex) {
			ParameterAgreement.awaitEnd(group);
			throw ex;
		}
		if (group.rank() != source) {
			this.lastBegun = step();
		}
		this.replica.stateReplaced();
	}

	@Override
	public byte[] digest() {
		return broadcast().digest(this.current);
	}

	private StateBroadcast broadcast() {
		ModelState staging = this.model;
		if (staging == null) {
			staging = this.replica.checkpointState();
			this.model = staging;
		}
		return new StateBroadcast(staging, this::withNewOptimizer);
	}

	private ModelState withNewOptimizer() {
		closeStaging();
		this.replica.renewOptimizer();
		ModelState staging = this.replica.checkpointState();
		this.model = staging;
		return staging;
	}

	private void closeStaging() {
		if (this.model != null) {
			this.model.close();
			this.model = null;
		}
	}

	@Override
	public void close() {
		closeStaging();
		this.replica.close();
	}

}
