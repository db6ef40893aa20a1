package io.tutti.service.command;

import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import io.tutti.ExitCode;
import io.tutti.ProcessGroup;
import io.tutti.benchmark.peer.TorchProgram;
import io.tutti.engine.control.BarrierOutcome;
import io.tutti.service.group.GroupLifecycle;
import io.tutti.service.group.JoinedGroup;
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

	private TrainingBenchmarkRun(JoinedGroup joined, boolean oneHost, List<LayerStack> models, int batch,
			StepReport report) {
		this.joined = joined;
		this.oneHost = oneHost;
		this.models = models;
		this.batch = batch;
		this.report = report;
	}

	static TrainingBenchmarkRun of(ApplicationContext context, List<LayerStack> models, int batch, StepReport report)
			throws Exception {
		GroupLifecycle group = context.getBean(GroupLifecycle.class);
		return new TrainingBenchmarkRun(group.formed().get(),
				group.assignment().localWorldSize() == group.assignment().worldSize(), models, batch, report);
	}

	/** Measures and returns the exit code. */
	int run() throws InterruptedException {
		measure();
		return ExitCode.DONE;
	}

	private void measure() throws InterruptedException {
		ProcessGroup world = this.joined.world();
		boolean prints = world.rank() == 0;
		if (prints && !this.report.header().isEmpty()) {
			say(this.report.header(), System.out);
		}
		TrainingBenchmark benchmark = new TrainingBenchmark(world, this.batch);
		this.models.forEach((model) -> benchmark.run(model, (line) -> show(line, prints)));
		if (!this.oneHost) {
			if (prints) {
				say("tutti: " + TorchProgram.LABEL + " skipped: it is measured only if all ranks are on one host",
						System.err);
			}
			return;
		}
		if (prints) {
			torch(world.worldSize());
		}
		await();
	}

	private void torch(int ranks) throws InterruptedException {
		List<String> arguments = new ArrayList<>(List.of(Integer.toString(ranks), Integer.toString(this.batch)));
		this.models.forEach((model) -> arguments.add(model.layers() + "x" + model.width()));
		Consumer<String> notes = (note) -> say("tutti: " + note, System.err);
		for (String line : new TorchProgram(PROGRAM, notes).run(arguments, TrainingBenchmark.environmentOfPeers(),
				TORCH_LIMIT)) {
			if (line.startsWith(NOTE)) {
				notes.accept(TorchProgram.LABEL + " " + line.substring(NOTE.length()));
			}
			StepMeasurement.parse(TorchProgram.LABEL, ranks, line).ifPresent((parsed) -> show(parsed, true));
		}
	}

	private void await() {
		Duration limit = TorchProgram.limit(TORCH_LIMIT).plus(SLACK);
		BarrierOutcome outcome = this.joined.control().barrier(BARRIER, limit);
		if (outcome.result() != BarrierOutcome.Result.PASSED) {
			throw new IllegalStateException("after " + outcome.waitedMillis() + " ms of " + limit.toMillis()
					+ " the benchmark of PyTorch on rank 0 had not ended; missing ranks: " + outcome.missingRanks());
		}
	}

	private void show(StepMeasurement line, boolean prints) {
		if (prints) {
			say(this.report.line(line), System.out);
		}
	}

	private static void say(String text, PrintStream stream) {
		stream.println(text);
	}

}
