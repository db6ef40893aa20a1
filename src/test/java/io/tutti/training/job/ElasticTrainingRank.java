package io.tutti.training.job;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.tutti.ElasticGroup;
import io.tutti.ExitCode;
import io.tutti.training.Batch;
import io.tutti.training.SampleCounts;
import io.tutti.training.TestMetric;
import io.tutti.training.TrainingDevice;
import io.tutti.training.TrainingStep;
import io.tutti.training.TrainingTask;
import io.tutti.training.checkpoint.CheckpointOptions;
import io.tutti.training.internal.TensorMemory;
import io.tutti.training.table.ClassifierOptions;
import io.tutti.training.table.ClassifierTask;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.Optimizer;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.jspecify.annotations.Nullable;

/**
 * A process of an elastic training job that kills itself as its arguments say, once per
 * job: the slot, then when, then the step. It dies {@code before} or {@code after} the
 * step, {@code within} the reduction of its gradients, while the others have not begun
 * it, or while it writes the {@code checkpoint} of that step. With {@code stop} it stops
 * itself before the step, and with {@code resume} it resumes the process that has
 * stopped. With {@code rejoin} the other ranks wait in their steps until it is back.
 */
final class ElasticTrainingRank implements TrainingListener {

	static final int EPOCHS = 2;

	static final int GLOBAL_BATCH = 32;

	/** Far longer than a step until its reduction. */
	private static final long ONE_STEP_MILLIS = 300;

	/** The start of a restarted process, until it begins to join. */
	private static final long START_NANOS = TimeUnit.SECONDS.toNanos(30);

	/** Far longer than a process takes to join. */
	private static final long JOIN_MILLIS = 4000;

	/** Files of the processes that have begun to join. */
	private static final String JOINING = "joining-";

	/** Files of the processes that have killed themselves. */
	private static final String KILLED = "killed-";

	private static final int SIGKILL = 9;

	/** Takes effect at once, unlike a process that sends the signal. */
	@SuppressWarnings("restricted")
	private static final MethodHandle KILL = Linker.nativeLinker()
		.downcallHandle(Linker.nativeLinker().defaultLookup().findOrThrow("kill"),
				FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));

	private final Path directory;

	private final String slot;

	private final int founding;

	private final boolean rejoins;

	private final String[] kills;

	private int worldSize;

	private ElasticTrainingRank(Path directory, boolean rejoins, String[] kills) {
		this.directory = directory;
		this.slot = System.getenv("RANK");
		this.founding = Integer.parseInt(System.getenv("WORLD_SIZE"));
		this.rejoins = rejoins;
		this.kills = kills;
	}

	static void main(String[] arguments) throws Exception {
		ExitCode.onUncaughtException();
		Path directory = Path.of(arguments[0]);
		new ElasticTrainingRank(directory, Boolean.parseBoolean(arguments[1]),
				Arrays.copyOfRange(arguments, 2, arguments.length))
			.run();
	}

	private void run() throws IOException {
		TrainingOptions options = new TrainingOptions(EPOCHS, GLOBAL_BATCH, 42, 1,
				new CheckpointOptions(this.directory.resolve("checkpoints"), 10, 2), null);
		VisibleTask task = new VisibleTask();
		try (ElasticGroup group = ElasticGroup.fromEnvironment()) {
			Files.createFile(this.directory.resolve(JOINING + ProcessHandle.current().pid()));
			group.onEvent((event) -> System.out.println(event));
			TrainingSummary summary = new TrainingJob(group, task, options, this).run();
			Files.writeString(this.directory.resolve("summary-" + this.slot),
					summary.parameterSha256().getFirst() + " " + summary.reforms() + " " + summary.repeatedSteps() + " "
							+ summary.worldSize() + " " + summary.allReducedBytes());
			Files.write(this.directory.resolve("parameters-" + this.slot), task.parameters);
		}
	}

	@Override
	public void started(TrainingPlan plan) {
		this.worldSize = plan.worldSize();
	}

	@Override
	public void reformed(int nowWorldSize, long step) {
		this.worldSize = nowWorldSize;
	}

	@Override
	public void selected(StepSamples samples) {
		String indices = Arrays.stream(samples.samples()).mapToObj(Integer::toString).collect(Collectors.joining(","));
		try {
			Files.writeString(this.directory.resolve("samples-" + ProcessHandle.current().pid()),
					samples.step() + " " + samples.generation() + " " + samples.rank() + " [" + indices + "]\n",
					StandardOpenOption.CREATE, StandardOpenOption.APPEND);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		kill("before", samples.step());
		killWithinTheReduction(samples.step());
		killInTheCheckpoint(samples.step() - 1);
		if (isDue("stop", samples.step())) {
			signal("STOP", ProcessHandle.current().pid(), "stopped");
		}
		if (isDue("resume", samples.step())) {
			signal("CONT", Long.parseLong(read("stopped")), "resumed");
		}
		slowDown(samples.step());
	}

	@Override
	public void step(long step, double loss) {
		kill("after", step);
	}

	/** The other ranks begin the step when this one is dead. */
	private void killWithinTheReduction(long step) {
		boolean dies = isDue("within", step);
		if (dies) {
			Thread.ofPlatform().daemon().start(() -> {
				sleep(ONE_STEP_MILLIS);
				kill("within", step);
			});
		}
		else if (Stream.of(this.kills).anyMatch((kill) -> kill.endsWith(":within:" + step))) {
			sleep(2 * ONE_STEP_MILLIS);
		}
	}

	/**
	 * The last step has begun to write it. On a busy machine it may be complete before
	 * this thread looks.
	 */
	private void killInTheCheckpoint(long step) {
		if (!isDue("checkpoint", step) || Files.exists(killed(step))) {
			return;
		}
		long end = System.nanoTime() + START_NANOS;
		while (System.nanoTime() < end) {
			if (isWrittenOrBeingWritten(step)) {
				kill("checkpoint", step);
			}
		}
		throw new IllegalStateException("checkpoint " + step + " was not written");
	}

	private boolean isWrittenOrBeingWritten(long step) {
		try (Stream<Path> files = Files.list(this.directory.resolve("checkpoints"))) {
			return files.map((file) -> file.getFileName().toString())
				.anyMatch((name) -> name.matches("step-0*" + step + "(\\.\\d+\\.tmp)?"));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Gives a restarted process the time to join: little in each step, and far more than
	 * it needs in those before one in which a rank must be back to die.
	 */
	private void slowDown(long step) {
		if (!this.rejoins || this.worldSize == this.founding) {
			return;
		}
		if (Stream.of(this.kills).noneMatch((kill) -> isNear(kill.split(":"), step))) {
			// A resumed process needs far longer than a step of 100 ms to join on a busy
			// machine.
			sleep(Files.exists(this.directory.resolve("resumed")) ? 1000 : 100);
			return;
		}
		long end = System.nanoTime() + START_NANOS;
		while (count(JOINING) < this.founding + count(KILLED) && System.nanoTime() < end) {
			sleep(50);
		}
		sleep(JOIN_MILLIS);
	}

	private long count(String prefix) {
		try (Stream<Path> files = Files.list(this.directory)) {
			return files.filter((file) -> file.getFileName().toString().startsWith(prefix)).count();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static boolean isNear(String[] kill, long step) {
		long ahead = Long.parseLong(kill[2]) - step;
		return !List.of("stop", "resume").contains(kill[1]) && ahead >= 1 && ahead <= 3;
	}

	private static void sleep(long millis) {
		try {
			Thread.sleep(millis);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private boolean isDue(String when, long step) {
		return Arrays.asList(this.kills).contains(this.slot + ":" + when + ":" + step);
	}

	/** Sends a signal once per job, and keeps its receiver in a file. */
	private void signal(String name, long receiver, String file) {
		try {
			Files.writeString(this.directory.resolve(file), "" + receiver, StandardOpenOption.CREATE_NEW);
			new ProcessBuilder("kill", "-" + name, "" + receiver).start().waitFor();
		}
		catch (FileAlreadyExistsException ex) {
			// A repeated step.
		}
		catch (IOException | InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private String read(String file) {
		try {
			return Files.readString(this.directory.resolve(file));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private void kill(String when, long step) {
		if (!isDue(when, step)) {
			return;
		}
		try {
			Files.createFile(killed(step));
			KILL.invoke(Math.toIntExact(ProcessHandle.current().pid()), SIGKILL);
		}
		catch (FileAlreadyExistsException ex) {
			// The restarted process lives on.
		}
		catch (Throwable ex) {
			throw new IllegalStateException(ex);
		}
	}

	private Path killed(long step) {
		return this.directory.resolve(KILLED + this.slot + "-" + step);
	}

	/** The classifier, which keeps a copy of its parameters when the job ends. */
	private static final class VisibleTask implements TrainingTask {

		private final ClassifierTask task = new ClassifierTask(
				new ClassifierOptions(ClassifierOptions.DEFAULT_LEARNING_RATE, null));

		private @Nullable Module model;

		private byte[] parameters = {};

		@Override
		public String name() {
			return this.task.name();
		}

		@Override
		public SampleCounts load(long seed, TrainingDevice device) {
			return this.task.load(seed, device);
		}

		@Override
		public Map<String, String> identity() {
			return this.task.identity();
		}

		@Override
		public Module model() {
			Module created = this.task.model();
			this.model = created;
			return created;
		}

		@Override
		public Optimizer optimizer(TensorVector learning) {
			return this.task.optimizer(learning);
		}

		@Override
		public OptionalDouble learningRate(TrainingStep step) {
			return this.task.learningRate(step);
		}

		@Override
		public Tensor losses(Batch batch) {
			return this.task.losses(batch);
		}

		@Override
		public Tensor scores(Batch batch) {
			return this.task.scores(batch);
		}

		@Override
		public TestMetric metric() {
			return this.task.metric();
		}

		@Override
		public OptionalDouble guessingLoss() {
			return this.task.guessingLoss();
		}

		@Override
		public void close() {
			if (this.model != null) {
				try (TensorVector list = this.model.parameters()) {
					this.parameters = Stream.of(list.get())
						.map((tensor) -> TensorMemory.of(tensor).toArray(ValueLayout.JAVA_BYTE))
						.reduce(new byte[0], VisibleTask::join);
				}
			}
			this.task.close();
		}

		private static byte[] join(byte[] first, byte[] second) {
			byte[] both = Arrays.copyOf(first, first.length + second.length);
			MemorySegment.copy(MemorySegment.ofArray(second), ValueLayout.JAVA_BYTE, 0, both, first.length,
					second.length);
			return both;
		}

	}

}
