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

	/** The last step after which this rank has reported the end of an epoch. */
	private long reportedEpochEnd;

	private boolean stopReported;

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
	 * The ranks have agreed to stop.
	 * @return whether this rank has not reported it yet
	 */
	boolean stop() {
		boolean first = !this.stopReported;
		this.stopReported = true;
		this.current = this.current.asStopped();
		return first;
	}

	/**
	 * The model has been evaluated after the last step of an epoch.
	 * @return whether this rank has not reported it yet
	 */
	boolean endEpoch() {
		boolean first = this.reportedEpochEnd < step();
		this.reportedEpochEnd = Math.max(this.reportedEpochEnd, step());
		this.current = this.current.atEpochEnd();
		return first;
	}

	/**
	 * A generation of an elastic group begins. A lost rank may have ended a collective
	 * call on some ranks only. So the ranks agree on everything that is no part of a
	 * step: an epoch ends again unless it has ended on all of them. A collective call.
	 */
	void enter(ProcessGroup group) {
		JobRecord.Job own = this.current.job();
		long id = (own.id() == 0 && group.rank() == 0) ? new SecureRandom().nextLong(1, Long.MAX_VALUE) : own.id();
		long begun = Math.max(0, this.lastBegun - step());
		long[] all = { id, own.repeatedSteps() + begun, own.generations(), own.stopped() ? 1 : 0,
				this.current.epochEnded() ? 0 : 1 };
		group.allReduce(all, ReduceOp.MAX);
		double[] lossBefore = { Double.isNaN(own.lossBefore()) ? Double.NEGATIVE_INFINITY : own.lossBefore() };
		group.allReduce(lossBefore, ReduceOp.MAX);
		this.lastBegun = step();
		JobRecord.Job agreed = new JobRecord.Job(all[0],
				(lossBefore[0] == Double.NEGATIVE_INFINITY) ? Double.NaN : lossBefore[0], all[3] != 0, all[1],
				Math.toIntExact(all[2] + 1));
		this.current = new JobRecord(this.current.progress(), all[4] == 0, this.current.previousEpochLoss(), agreed);
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

	/** Without what the ranks agree on when they enter a generation. */
	@Override
	public byte[] digest() {
		return broadcast().digest(this.current.progress());
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
