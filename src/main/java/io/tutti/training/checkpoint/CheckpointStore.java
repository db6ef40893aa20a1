package io.tutti.training.checkpoint;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.tutti.CollectiveException;
import io.tutti.DataType;
import io.tutti.ExitCode;
import io.tutti.ProcessGroup;
import io.tutti.engine.FailureReason;
import org.bytedeco.javacpp.PointerScope;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the checkpoints of a job, which are stored on rank 0's disk only. Training waits
 * for a copy of the state; a thread of its own writes the files. All methods are called
 * on the training thread.
 */
public final class CheckpointStore implements AutoCloseable {

	/**
	 * A write that hangs, for example on a network file system, must not hang the job.
	 */
	private static final Duration PATIENCE = Duration.ofSeconds(60);

	/** How often the others are told of long work within the time limit of a call. */
	private static final int TOLD_PER_TIMEOUT = 4;

	private static final String ADVICE = "; give another directory, or move this checkpoint away to continue from the"
			+ " one before it, or from the beginning if there is none";

	private final ProcessGroup group;

	private final CheckpointOptions options;

	private final JobFingerprint job;

	private final ModelState state;

	private final Consumer<SavedCheckpoint> listener;

	private final CheckpointDirectory.Owner owner;

	private final Duration patience;

	private final WriterThread writer;

	private @Nullable CheckpointDirectory directory;

	private boolean opened;

	private boolean closed;

	/** When the other ranks were last told that rank 0 reads a checkpoint. */
	private long toldNanos;

	/** Step of the latest checkpoint, -1 if there is none and after one that failed. */
	private long savedStep = -1;

	private @Nullable Future<Optional<SavedCheckpoint>> pending;

	/** For how long training has waited for checkpoints that are not yet reported. */
	private long waitedNanos;

	/** Reads the data of tensors, in their order. */
	private interface Source {

		void read(TensorHeader header, MemorySegment data, Runnable reading) throws IOException;

	}

	/**
	 * Creates a store without access to the disk.
	 * @param group the ranks of the job
	 * @param options where and when to write checkpoints
	 * @param job what a checkpoint must have been written by
	 * @param state what to write and to restore, for this store only; {@link #close()}
	 * closes it, too
	 * @param listener receives the complete checkpoints on rank 0
	 * @param elasticJob random id of an elastic job, whose rank 0 in the newest
	 * generation writes; 0 for any other job
	 * @throws IllegalStateException if another store uses the state
	 */
	public CheckpointStore(ProcessGroup group, CheckpointOptions options, JobFingerprint job, ModelState state,
			Consumer<SavedCheckpoint> listener, long elasticJob) {
		this(group, options, job, state, listener, elasticJob, PATIENCE);
	}

	/** Creates a store that awaits a write without progress for a given time. */
	CheckpointStore(ProcessGroup group, CheckpointOptions options, JobFingerprint job, ModelState state,
			Consumer<SavedCheckpoint> listener, long elasticJob, Duration patience) {
		state.claim();
		this.patience = patience;
		this.group = group;
		this.options = options;
		this.job = job;
		this.state = state;
		this.listener = listener;
		this.owner = new CheckpointDirectory.Owner(elasticJob, group.generation());
		this.writer = new WriterThread("tutti-checkpoint-r" + group.rank(), patience);
	}

	/**
	 * Locks the directory and restores the state on every rank from rank 0's newest
	 * checkpoint. A collective call.
	 * @return the progress of the checkpoint, {@code null} if there is none
	 * @throws CheckpointException on every rank, if the ranks' jobs differ, if another
	 * job uses the directory, if the checkpoint is damaged or cannot be read, or if this
	 * job cannot continue from it. If a rank cannot take over the state, the others may
	 * have: do not train on
	 */
	public @Nullable Progress restore() {
		return restore((_) -> {
		});
	}

	/**
	 * Restores the state as {@link #restore()} does, and passes the progress on in the
	 * same step: if the group breaks afterwards, this rank has both or neither.
	 * @param replaced takes the progress of the checkpoint once the state is replaced
	 * @return the progress, {@code null} if there is no checkpoint
	 */
	public @Nullable Progress restore(Consumer<Progress> replaced) {
		this.opened = true;
		requireOneJob();
		this.toldNanos = System.nanoTime();
		try (Found found = (this.group.rank() == 0) ? find() : Found.nothing()) {
			CheckpointLookup lookup = found.lookup().broadcast(this.group);
			lookup.requireAccepted();
			return lookup.checkpoint().isEmpty() ? null : restore(lookup.checkpoint().get(), found.files(), replaced);
		}
		catch (IOException ex) {
			throw CheckpointException.onThisRank(
					"cannot read the checkpoint in " + this.options.directory() + ": " + FailureReason.of(ex), ex);
		}
	}

	private void requireOneJob() {
		this.job.differencesByRank(this.group, 0).forEach((rank, difference) -> {
			throw CheckpointException.onEveryRank(ExitCode.BAD_CONFIGURATION,
					"the ranks' jobs differ: rank " + rank + " " + difference, null);
		});
	}

	/**
	 * Locks the directory on rank 0, without restoring a checkpoint.
	 * @throws CheckpointException on rank 0, if another job uses the directory or it
	 * cannot be used
	 */
	public void open() {
		this.opened = true;
		if (this.group.rank() == 0) {
			openDirectory();
		}
	}

	private void openDirectory() {
		try {
			this.directory = new CheckpointDirectory(this.options.directory(), this.owner);
		}
		catch (IllegalStateException ex) {
			throw CheckpointException.onThisRank(ExitCode.BAD_CONFIGURATION, String.valueOf(ex.getMessage()), ex);
		}
		catch (IOException ex) {
			Path file = fileInPath();
			throw CheckpointException.onThisRank((file != null) ? ExitCode.BAD_CONFIGURATION : ExitCode.INTERNAL,
					"the checkpoint directory " + this.options.directory() + " cannot be used: "
							+ ((file != null) ? file + " is not a directory" : FailureReason.of(ex))
							+ ". Give a directory that exists or can be created",
					ex);
		}
	}

	private @Nullable Path fileInPath() {
		for (Path path = this.options.directory().toAbsolutePath(); path != null; path = path.getParent()) {
			if (Files.exists(path) && !Files.isDirectory(path)) {
				return path;
			}
		}
		return null;
	}

	/**
	 * Copies the state and begins to write it on rank 0. Waits for the previous
	 * checkpoint first, for which {@link #awaitWritten()} lets the other ranks wait too.
	 * A collective call if the optimizer is divided among the ranks; otherwise rank 0
	 * alone learns whether it was written.
	 * @param progress progress of the job after its last step, which is a later one than
	 * that of the previous checkpoint
	 * @throws IllegalStateException before {@link #restore()} or {@link #open()}
	 * @throws IllegalArgumentException if a checkpoint of this step or a later one has
	 * been saved or restored, unless this rank has got a {@link CheckpointException}
	 * since
	 * @throws CheckpointException if the previous checkpoint was not written or makes no
	 * progress for 60 s, or this thread is interrupted; if the optimizer is divided, on
	 * every rank, also if a rank cannot copy its part, and the group stays usable
	 */
	public void save(Progress progress) {
		if (!this.opened) {
			throw new IllegalStateException("call restore() or open() before the first save()");
		}
		if (progress.step() <= this.savedStep) {
			throw new IllegalArgumentException("there is a checkpoint of step " + this.savedStep
					+ "; the next one needs a later step, got " + progress.step());
		}
		this.savedStep = -1;
		AtomicLong start = new AtomicLong();
		if (this.group.rank() == 0 || this.state.isDivided()) {
			this.state.stage(() -> {
				finish();
				start.set(System.nanoTime());
			}, this.group.rank() == 0);
		}
		this.savedStep = progress.step();
		if (this.group.rank() != 0) {
			return;
		}
		this.waitedNanos += System.nanoTime() - start.get();
		this.pending = this.writer.submit(() -> write(progress));
	}

	/**
	 * Waits on every rank while rank 0 writes a checkpoint, however long it takes: rank 0
	 * tells the others within the time limit of a call that it still writes. Call it
	 * before {@link #save} and {@link #finish()}, in which rank 0 waits alone and the
	 * others meanwhile in their next collective call. A collective call.
	 * @throws CheckpointException on rank 0, if the write makes no progress for 60 s or
	 * this thread is interrupted
	 */
	public void awaitWritten() {
		long start = System.nanoTime();
		while (broadcastBusy(isWriting(this.group.timeout().dividedBy(TOLD_PER_TIMEOUT)))) {
			// Rank 0 writes a large checkpoint.
		}
		this.waitedNanos += System.nanoTime() - start;
	}

	/**
	 * Waits for a limited time while a checkpoint is written.
	 * @return whether it is to be awaited again
	 */
	private boolean isWriting(Duration longest) {
		if (this.pending == null) {
			return false;
		}
		try {
			if (this.writer.isWriting(this.pending, longest)) {
				return true;
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw CheckpointException.onThisRank("interrupted while waiting for a checkpoint", ex);
		}
		if (!this.pending.isDone()) {
			throw stuck();
		}
		return false;
	}

	/**
	 * Reports a checkpoint that has been written since the last call.
	 * @throws CheckpointException if it could not be written
	 */
	public void poll() {
		if (this.pending != null && this.pending.isDone()) {
			finish();
		}
	}

	/**
	 * Waits until the last checkpoint is complete and reports it, unless another
	 * generation of an elastic group has written it or writes the checkpoints by now.
	 * @throws CheckpointException if it could not be written or makes no progress for 60
	 * s, or this thread is interrupted
	 */
	public void finish() {
		long start = System.nanoTime();
		while (isWriting(this.patience)) {
			// It makes progress.
		}
		this.waitedNanos += System.nanoTime() - start;
		Future<Optional<SavedCheckpoint>> last = this.pending;
		if (last == null) {
			return;
		}
		this.pending = null;
		if (last.state() == Future.State.SUCCESS) {
			last.resultNow().ifPresent(this::report);
			return;
		}
		this.savedStep = -1;
		switch (last.exceptionNow()) {
			case CheckpointDirectory.SupersededException _ -> {
				// The later generation reports its own.
			}
			case CheckpointException known -> throw known;
			case Throwable ex -> throw new IllegalStateException("the thread that writes checkpoints failed", ex);
		}
	}

	private void report(SavedCheckpoint saved) {
		double seconds = this.waitedNanos / 1e9;
		this.waitedNanos = 0;
		this.listener.accept(saved.withWaitedSeconds(seconds));
	}

	/**
	 * Lets a checkpoint complete that is being written, also if this thread is
	 * interrupted, reports it, and releases the directory. Idempotent.
	 * @throws CheckpointException if the last checkpoint could not be written, or has
	 * made no progress for 60 s
	 */
	@Override
	public void close() {
		if (this.closed) {
			return;
		}
		this.closed = true;
		// Until it has ended, the thread uses the copy and the directory.
		long start = System.nanoTime();
		if (!this.writer.awaitEnd()) {
			throw stuck();
		}
		this.waitedNanos += System.nanoTime() - start;
		try {
			finish();
		}
		finally {
			release();
		}
	}

	private CheckpointException stuck() {
		return CheckpointException.onThisRank("a checkpoint in " + this.options.directory()
				+ " has made no progress for " + this.patience.toSeconds() + " s; see whether its file system hangs",
				null);
	}

	private void release() {
		try {
			if (this.directory != null) {
				this.directory.close();
			}
		}
		catch (IOException ex) {
			// The process's end releases the lock.
		}
		this.state.close();
	}

	/** What rank 0 has found, with its open files. */
	private record Found(CheckpointLookup lookup, @Nullable CheckpointFiles files) implements AutoCloseable {

		static Found nothing() {
			return rejected(ExitCode.DONE, "");
		}

		static Found rejected(int exitCode, String reason) {
			return new Found(new CheckpointLookup(exitCode, reason, Optional.empty()), null);
		}

		@Override
		public void close() throws IOException {
			if (this.files != null) {
				this.files.close();
			}
		}

	}

	/**
	 * Finds the newest checkpoint. Throws nothing but a failure of the group, since the
	 * other ranks wait.
	 */
	private Found find() {
		Path checkpoint = this.options.directory();
		try {
			openDirectory();
			List<CheckpointDirectory.Entry> all = CheckpointDirectory.list(this.options.directory());
			if (all.isEmpty()) {
				return Found.nothing();
			}
			checkpoint = all.getFirst().path();
			return find(checkpoint);
		}
		catch (CheckpointException ex) {
			return Found.rejected(ex.exitCode(), String.valueOf(ex.getMessage()));
		}
		catch (IllegalArgumentException ex) {
			return Found.rejected(ExitCode.BAD_CONFIGURATION,
					"cannot continue from checkpoint " + checkpoint + ": " + ex.getMessage() + ADVICE);
		}
		catch (CollectiveException ex) {
			throw ex;
		}
		catch (IOException | RuntimeException | Error ex) {
			return Found.rejected(ExitCode.INTERNAL,
					"cannot read checkpoint " + checkpoint + ": " + FailureReason.of(ex));
		}
	}

	private Found find(Path checkpoint) throws IOException {
		CheckpointFiles files = new CheckpointFiles(checkpoint);
		String difference = difference(files.job());
		if (difference == null) {
			difference = this.state.obstacle(files.manifest().optimizer(), files.model(), files.optimizer());
		}
		if (difference != null) {
			files.close();
			return Found.rejected(ExitCode.BAD_CONFIGURATION,
					"checkpoint " + checkpoint + " belongs to another job: " + difference
							+ "; give another directory, or move all checkpoints away to start from the beginning");
		}
		return new Found(new CheckpointLookup(ExitCode.DONE, "",
				Optional.of(new CheckpointLookup.Contents(checkpoint.getFileName().toString(),
						files.manifest().progress(), files.model(), files.optimizer()))),
				files);
	}

	/** The call in which the other ranks wait for the data has a time limit. */
	private void tellReading() {
		long now = System.nanoTime();
		if (now - this.toldNanos >= this.group.timeout().toNanos() / TOLD_PER_TIMEOUT) {
			this.toldNanos = now;
			broadcastBusy(true);
		}
	}

	/** Broadcasts whether rank 0 still reads or writes, and returns that. */
	private boolean broadcastBusy(boolean own) {
		int[] busy = { own ? 1 : 0 };
		this.group.broadcast(MemorySegment.ofArray(busy), DataType.INT32, 0);
		return busy[0] != 0;
	}

	private @Nullable String difference(JobFingerprint kept) {
		return this.job.differences(kept)
			.findFirst()
			.map((name) -> "it has " + kept.describe(name) + ", this job has " + this.job.describe(name))
			.orElse(null);
	}

	/**
	 * Replaces the state once all of it has arrived, so that the loss of rank 0 in
	 * between leaves no rank with a part of it.
	 */
	private Progress restore(CheckpointLookup.Contents contents, @Nullable CheckpointFiles files,
			Consumer<Progress> replaced) throws IOException {
		Path checkpoint = this.options.directory().resolve(contents.name());
		try (Arena arena = Arena.ofShared()) {
			List<StoredTensor> model = broadcast(checkpoint, contents.model(),
					(files != null) ? files::readModel : null, (_) -> true, arena);
			List<StoredTensor> optimizer = broadcast(checkpoint, contents.optimizer(),
					(files != null) ? files::readOptimizer : null, this.state::updates, arena);
			FailTogether.run(this.group, () -> {
				replace(checkpoint, model, optimizer);
				replaced.accept(contents.progress());
			});
		}
		if (this.directory != null) {
			this.directory.continueFromNewest();
		}
		this.savedStep = contents.progress().step();
		return contents.progress();
	}

	private void replace(Path checkpoint, List<StoredTensor> model, List<StoredTensor> optimizer) {
		String obstacle;
		try {
			obstacle = this.state.restoreOptimizer(optimizer);
		}
		catch (IllegalArgumentException ex) {
			obstacle = String.valueOf(ex.getMessage());
		}
		if (obstacle != null) {
			throw CheckpointException.onThisRank(ExitCode.BAD_CONFIGURATION,
					"cannot continue from checkpoint " + checkpoint + ": " + obstacle, null);
		}
		model.forEach(this.state::restore);
	}

	/**
	 * Broadcasts tensors of rank 0. One that this rank does not keep is in memory only
	 * until the next.
	 * @param source reads their data, {@code null} on other ranks
	 * @param kept which tensors this rank keeps
	 */
	private List<StoredTensor> broadcast(Path checkpoint, List<TensorHeader> headers, @Nullable Source source,
			Predicate<TensorHeader> kept, Arena arena) {
		List<StoredTensor> tensors = new ArrayList<>();
		for (TensorHeader header : headers) {
			try (Arena passing = Arena.ofShared()) {
				boolean keeps = kept.test(header);
				StoredTensor tensor = broadcast(checkpoint, header, source, keeps ? arena : passing);
				if (keeps) {
					tensors.add(tensor);
				}
			}
		}
		return tensors;
	}

	private StoredTensor broadcast(Path checkpoint, TensorHeader header, @Nullable Source source, Arena arena) {
		AtomicReference<StoredTensor> read = new AtomicReference<>();
		FailTogether.run(this.group, () -> read.set(read(checkpoint, header, source, arena)));
		StateBroadcast.broadcast(0, this.group, read.get().data());
		return read.get();
	}

	/** Every rank makes the same calls, also if it fails. */
	private StoredTensor read(Path checkpoint, TensorHeader header, @Nullable Source source, Arena arena) {
		try {
			StoredTensor tensor = new StoredTensor(header, arena.allocate(header.bytes(), Long.BYTES));
			if (source != null) {
				source.read(header, tensor.data(), this::tellReading);
			}
			return tensor;
		}
		catch (IllegalArgumentException ex) {
			throw CheckpointException.onThisRank(ExitCode.BAD_CONFIGURATION,
					"cannot continue from checkpoint " + checkpoint + ": " + ex.getMessage() + ADVICE, ex);
		}
		catch (IOException ex) {
			throw CheckpointException.onThisRank("cannot read checkpoint " + checkpoint + ": " + FailureReason.of(ex),
					ex);
		}
		finally {
			while (broadcastBusy(false)) {
				// Rank 0 reads a large tensor.
			}
		}
	}

	/** Runs on the writing thread. */
	private Optional<SavedCheckpoint> write(Progress progress) throws CheckpointDirectory.SupersededException {
		long start = System.nanoTime();
		try (PointerScope _ = new PointerScope()) {
			List<StoredTensor> model = this.state.stagedModel();
			List<StoredTensor> optimizer = this.state.stagedOptimizer();
			Optional<Path> written = this.directory.add(progress.step(),
					(path) -> CheckpointFiles.write(path, this.job, progress, this.state.optimizerType(), model,
							optimizer, CheckpointFiles.SHARD_BYTES, this.writer::progressed));
			prune();
			long bytes = Stream.concat(model.stream(), optimizer.stream())
				.mapToLong((tensor) -> tensor.data().byteSize())
				.sum();
			return written
				.map((path) -> new SavedCheckpoint(path, progress.step(), bytes, 0, (System.nanoTime() - start) / 1e9));
		}
		catch (CheckpointDirectory.SupersededException ex) {
			throw ex;
		}
		catch (IOException | RuntimeException ex) {
			throw CheckpointException.onThisRank("cannot write checkpoint of step " + progress.step() + " to "
					+ this.options.directory() + ": " + FailureReason.of(ex)
					+ "; the previous checkpoint is unchanged. Free space or give another directory, then start the job again",
					ex);
		}
	}

	private void prune() {
		try {
			this.directory.prune(this.options.keep());
		}
		catch (IOException ex) {
			// The new checkpoint is complete; after the next one this is tried again.
		}
	}

}
