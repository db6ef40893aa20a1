package io.tutti.training;

import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import io.tutti.CollectiveException;
import io.tutti.ProcessGroup;
import io.tutti.engine.javacpp.NativeLibraryPreparation;

import org.jspecify.annotations.Nullable;

/**
 * One rank's part of a data-parallel training job. It trains a small classifier on a
 * table of numbers; each rank processes a share of every batch.
 * <p>
 * The job is reproducible: the same options and world size give bit-identical parameters.
 * Another world size gives the same parameters up to rounding. All ranks must be given
 * the same options.
 */
public final class TrainingJob {

	private final ProcessGroup group;

	private final TrainingOptions options;

	private final TrainingListener listener;

	private final Supplier<TrainingDevice> device;

	private final AtomicReference<@Nullable String> stopReason = new AtomicReference<>();

	/**
	 * Creates a job on the CPU.
	 * @param group the ranks that train together; the caller closes it
	 */
	public TrainingJob(ProcessGroup group, TrainingOptions options, TrainingListener listener) {
		this(group, options, listener, () -> TrainingDevice.CPU);
	}

	/**
	 * Creates a job on the given device.
	 * @param group the ranks that train together; the caller closes it
	 * @param device the device, requested when the job runs; its kind must be the same on
	 * every rank
	 */
	public TrainingJob(ProcessGroup group, TrainingOptions options, TrainingListener listener,
			Supplier<TrainingDevice> device) {
		this.device = device;
		this.group = group;
		this.options = options;
		this.listener = listener;
	}

	/**
	 * Trains until the last step, or until any rank requests a stop. Runs on the calling
	 * thread, once per job. A failure of this rank only aborts the group, so that the
	 * other ranks receive the reason.
	 * @return the summary of the job
	 * @throws MalformedDataException if the table cannot be read or used for training
	 * @throws CheckpointException if the job cannot continue from the checkpoint or
	 * cannot write a new one
	 * @throws ReportException on rank 0, if the report cannot be written
	 * @throws io.tutti.BackendUnavailableException if a GPU is requested and not
	 * available, or if libtorch cannot be unpacked
	 * @throws ReplicaMismatchException if the ranks' options, data or trained parameters
	 * differ
	 * @throws TrainingDivergedException if the loss is not finite, grows far above its
	 * value before the first step, or ends above that value
	 * @throws io.tutti.CollectiveException if the group breaks
	 */
	public TrainingSummary run() {
		try {
			return train();
		}
		catch (RuntimeException | Error ex) {
			if (!isKnownToAll(ex)) {
				this.group.abort("rank " + this.group.rank() + " cannot continue training: " + ex.getMessage());
			}
			throw ex;
		}
	}

	/**
	 * Requests that all ranks stop soon, after the same step, with a checkpoint if the
	 * job has a checkpoint directory. May be called from any thread, any number of times,
	 * before or during {@link #run()}. The first reason is kept.
	 */
	public void requestStop(String reason) {
		this.stopReason.compareAndSet(null, reason);
	}

	private TrainingSummary train() {
		Path report = (this.group.rank() == 0) ? this.options.report() : null;
		if (report != null) {
			TrainingReport.requireDirectory(report);
		}
		NativeLibraryPreparation.prepare();
		TrainingDevice place = this.device.get();
		IntraOpThreads.set(this.options.threads());
		Dataset data = (this.options.data() != null) ? TableReader.read(this.options.data()) : Digits.read();
		JobFingerprint job = JobFingerprint.of(this.options, data);
		ParameterAgreement.require(this.group,
				job.with("epochs", this.options.epochs())
					.with("device", place.kind())
					.with("checkpoint", (this.options.checkpointDirectory() != null) ? "kept" : "none"));
		TrainingSummary summary = train(data, job, place);
		if (report != null) {
			TrainingReport.of(summary).write(report);
		}
		this.listener.finished(summary);
		return summary;
	}

	private TrainingSummary train(Dataset data, JobFingerprint job, TrainingDevice place) {
		DataSplit split = DataSplit.of(data, this.options.seed());
		try (TrainingLoop loop = new TrainingLoop(this.group, this.options, this.listener, this.stopReason, job, split,
				place)) {
			loop.restore((this.options.data() != null) ? this.options.data().toString() : "digits");
			loop.run();
			return loop.summarise();
		}
	}

	/** Whether the other ranks throw the same exception, so that no abort is needed. */
	private static boolean isKnownToAll(Throwable failure) {
		return switch (failure) {
			case CollectiveException _, ReplicaMismatchException _, TrainingDivergedException _ -> true;
			case CheckpointException checkpoint -> checkpoint.isKnownToAll();
			default -> false;
		};
	}

}
