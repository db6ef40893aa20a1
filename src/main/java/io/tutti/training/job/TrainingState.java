package io.tutti.training.job;

import io.tutti.ElasticState;
import io.tutti.ProcessGroup;
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

	private JobRecord current = JobRecord.START;

	private long lastBegun;

	private long repeatedSteps;

	/** Staging memory, only of an elastic job. */
	private @Nullable ModelState model;

	TrainingState(Replica replica) {
		this.replica = replica;
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
		if (step <= this.lastBegun) {
			this.repeatedSteps++;
		}
		this.lastBegun = step;
	}

	/** Steps that this rank has begun more than once. */
	long repeatedSteps() {
		return this.repeatedSteps;
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
		this.current = broadcast().from(source, group, this.current, JobRecord.class);
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
		return new StateBroadcast(staging);
	}

	@Override
	public void close() {
		if (this.model != null) {
			this.model.close();
		}
		this.replica.close();
	}

}
