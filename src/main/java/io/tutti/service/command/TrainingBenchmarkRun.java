package io.tutti.service.command;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import io.tutti.ExitCode;
import io.tutti.ProcessGroup;
import io.tutti.benchmark.peer.BuildDirectory;
import io.tutti.benchmark.peer.TorchProgram;
import io.tutti.engine.backend.JoinedGroup;
import io.tutti.service.config.TransportProperties;
import io.tutti.service.group.GroupLifecycle;
import io.tutti.training.benchmark.LayerStack;
import io.tutti.training.benchmark.StepMeasurement;
import io.tutti.training.benchmark.TrainingBenchmark;

import org.springframework.context.ApplicationContext;

/**
 * Measures training steps on all ranks, and then those of PyTorch on rank 0's host, while
 * the other ranks block at a control-plane barrier.
 */
final class TrainingBenchmarkRun {

	private static final String BARRIER = "bench-torch";

	private static final String PROGRAM = "torch_training.py";

	/** Start of a line that is a note. */
	private static final String NOTE = "# ";

	private static final Duration TORCH_LIMIT = Duration.ofMinutes(2);

	private static final Duration SLACK = Duration.ofMinutes(1);

	private final JoinedGroup joined;

	private final boolean oneHost;

	private final List<LayerStack> models;

	private final int batch;

	private final StepReport report;

	private final String congestionControl;

	/** Waits for the group to form. */
	TrainingBenchmarkRun(ApplicationContext context, List<LayerStack> models, int batch, StepReport report)
			throws Exception {
		GroupLifecycle group = context.getBean(GroupLifecycle.class);
		this.joined = group.formed().get();
		this.oneHost = group.assignment().localWorldSize() == group.assignment().worldSize();
		this.models = models;
		this.batch = batch;
		this.report = report;
		this.congestionControl = context.getBean(TransportProperties.class).congestionControl();
	}

	/** Measures and returns the exit code. */
	int run() throws InterruptedException, IOException {
		ProcessGroup world = this.joined.world();
		boolean prints = world.rank() == 0;
		String header = this.report.header(world.transport());
		if (prints && !header.isEmpty()) {
			System.out.println(header);
		}
		TrainingBenchmark benchmark = new TrainingBenchmark(world, this.batch);
		this.models.forEach((model) -> benchmark.run(model, (line) -> show(line, prints)));
		if (!this.oneHost) {
			if (prints) {
				System.err.println(
						"tutti: " + TorchProgram.LABEL + " skipped: it is measured only if all ranks are on one host");
			}
			return ExitCode.DONE;
		}
		if (prints) {
			torch(world.worldSize());
		}
		Await.barrier(this.joined, BARRIER, TorchProgram.limit(TORCH_LIMIT).plus(SLACK), "the benchmark of PyTorch");
		return ExitCode.DONE;
	}

	private void torch(int ranks) throws InterruptedException, IOException {
		List<String> arguments = new ArrayList<>(List.of(Integer.toString(ranks), Integer.toString(this.batch)));
		this.models.forEach((model) -> arguments.add(model.layers() + "x" + model.width()));
		Consumer<String> notes = (note) -> System.err.println("tutti: " + note);
		List<String> lines;
		try (BuildDirectory directory = BuildDirectory.ofThisJvm()) {
			lines = new TorchProgram(PROGRAM, this.congestionControl, directory.path(), notes).run(arguments,
					TrainingBenchmark.environmentOfPeers(), TORCH_LIMIT);
		}
		for (String line : lines) {
			if (line.startsWith(NOTE)) {
				notes.accept(TorchProgram.LABEL + " " + line.substring(NOTE.length()));
			}
			StepMeasurement.parse(TorchProgram.LABEL, ranks, line).ifPresent((parsed) -> show(parsed, true));
		}
	}

	private void show(StepMeasurement line, boolean prints) {
		if (prints) {
			System.out.println(this.report.line(line));
		}
	}

}
