package io.tutti.training;

import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import io.tutti.engine.CollectiveException;
import io.tutti.engine.ProcessGroup;
import io.tutti.engine.javacpp.NativeLibraryPreparation;

import org.jspecify.annotations.Nullable;

/**
 * One rank's part of a data-parallel training job: a small classifier learns a table of
 * numbers, each rank a share of every batch.
 * <p>
 * The job is reproducible: the same options and world size give the same parameters to
 * the bit, another world size the same up to rounding. All ranks must be given the same
 * options.
 */
public final class TrainingJob {

	private final ProcessGroup group;

	private final TrainingOptions options;

	private final TrainingListener listener;

	private final Supplier<TrainingDevice> device;

	private final AtomicReference<@Nullable String> stopReason = new AtomicReference<>();

	/**
	 * A job on the CPU that has not begun.
	 * @param group the ranks that train together; stays the caller's to close
	 */
	public TrainingJob(ProcessGroup group, TrainingOptions options, TrainingListener listener) {
		this(group, options, listener, () -> TrainingDevice.CPU);
	}

	/**
	 * A job that has not begun.
	 * @param group the ranks that train together; stays the caller's to close
	 * @param device what to compute on, found out when the job runs; of one kind on every
	 * rank
	 */
	public TrainingJob(ProcessGroup group, TrainingOptions options, TrainingListener listener,
			Supplier<TrainingDevice> device) {
		this.device = device;
		this.group = group;
		this.options = options;
		this.listener = listener;
	}

	/**
	 * Trains until the last step, or until any rank has asked to stop. Runs on the
	 * caller's thread; once per job. A failure of this rank alone aborts the group, so
	 * that the others are told why.
	 * @return what was done
	 * @throws MalformedDataException if the table cannot be trained on
	 * @throws CheckpointException if there is a checkpoint that cannot be continued from,
	 * or a new one cannot be kept
	 * @throws ReportException on rank 0, if the report cannot be written
	 * @throws io.tutti.engine.BackendUnavailableException if a GPU was asked for and
	 * cannot be had, or if libtorch cannot be unpacked
	 * @throws ReplicaMismatchException if ranks were given other options, or ended apart
	 * @throws TrainingDivergedException if the loss stops being a number, grows far
	 * beyond what it was before the first step, or ends above that
	 * @throws io.tutti.engine.CollectiveException if the group breaks
	 */
	public TrainingSummary run() {
		try {
			return train();
		}
		catch (RuntimeException | Error ex) {
			if (!isKnownToAll(ex)) {
				this.group.abort("rank " + this.group.rank() + " cannot go on training: " + ex.getMessage());
			}
			throw ex;
		}
	}

	/**
	 * Asks all ranks to stop after the same step, soon, with a checkpoint if one is kept.
	 * From any thread, any number of times, before or during {@link #run()}; the first
	 * reason stays.
	 */
	public void requestStop(String reason) {
		this.stopReason.compareAndSet(null, reason);
	}

	private TrainingSummary train() {
		Path report = (this.group.rank() == 0) ? this.options.report() : null;
		if (report != null) {
			TrainingReport.requirePlace(report);
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

	/** Whether the other ranks throw the same, and need not be told. */
	private static boolean isKnownToAll(Throwable failure) {
		return switch (failure) {
			case CollectiveException _, ReplicaMismatchException _, TrainingDivergedException _ -> true;
			case CheckpointException checkpoint -> checkpoint.isKnownToAll();
			default -> false;
		};
	}

}
