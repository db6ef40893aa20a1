package io.tutti.training.job;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;

import javax.management.JMException;
import javax.management.ObjectName;

import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.backend.SimulatedWorld;
import io.tutti.training.AllocatedMemory;
import io.tutti.training.DataParallelSettings;
import io.tutti.training.DistributedDataParallel;
import io.tutti.training.Overlap;
import io.tutti.training.checkpoint.CheckpointOptions;
import io.tutti.training.table.ClassifierOptions;
import io.tutti.training.table.ClassifierTask;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.Adam;
import org.bytedeco.pytorch.AdamOptions;
import org.bytedeco.pytorch.LinearImpl;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * Trains ten thousand steps of a {@code loop}, or half as many of a {@code job} with
 * checkpoints in a directory, whose two ranks wait for each other several times a step.
 * Prints the memory in use at each tenth: bytes that native code has allocated and not
 * freed, bytes of reachable objects of the heap, and objects of native code that Java
 * owns.
 */
final class LongTraining {

	static final int MEASUREMENTS = 10;

	/** Steps of the loop between two measurements. */
	static final int LOOP_INTERVAL = 1000;

	/** Steps of the job between two measurements. */
	static final int JOB_INTERVAL = 500;

	private static final Duration LIMIT = Duration.ofSeconds(100);

	private LongTraining() {
	}

	public static void main(String[] arguments) throws Exception {
		if (arguments.length == 0) {
			loop();
		}
		else {
			job(Path.of(arguments[0]));
		}
	}

	private static void loop() {
		try (SimulatedWorld world = new SimulatedWorld(1, Timeouts.DEFAULTS)) {
			LinearImpl layer = new LinearImpl(4, 3);
			try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(0), layer,
					DataParallelSettings.defaults().withOverlap(Overlap.ALWAYS));
					Adam adam = new Adam(layer.parameters(), new AdamOptions(0.01))) {
				Tensor rows = torch.ones(2, 4);
				for (int step = 1; step <= MEASUREMENTS * LOOP_INTERVAL; step++) {
					step(replicas, layer, adam, rows);
					if (step % LOOP_INTERVAL == 0) {
						print();
					}
				}
			}
		}
	}

	private static void step(DistributedDataParallel replicas, LinearImpl layer, Adam adam, Tensor rows) {
		try (PointerScope _ = new PointerScope()) {
			replicas.zeroGradients();
			try (DistributedDataParallel.NoSync _ = replicas.noSync()) {
				layer.forward(rows).square().mean().backward();
			}
			layer.forward(rows).square().mean().backward();
			replicas.synchronizeGradients();
			replicas.clipGradientNorm(1);
			adam.step();
		}
	}

	/** With evaluations, and a checkpoint between two measurements. */
	private static void job(Path directory) throws Exception {
		int steps = MEASUREMENTS * JOB_INTERVAL;
		int epochs = steps / 179 + 1; // 1437 samples in batches of 8
		TrainingOptions options = new TrainingOptions(epochs, 8, 1, 1,
				new CheckpointOptions(directory, JOB_INTERVAL, 1), null);
		CyclicBarrier measurement = new CyclicBarrier(2, LongTraining::print);
		try (SimulatedWorld world = new SimulatedWorld(2, Timeouts.DEFAULTS)) {
			RankThreads.run(2, LIMIT, (rank) -> new TrainingJob(world.group(rank),
					new ClassifierTask(ClassifierOptions.defaults()), options, new TrainingListener() {
						@Override
						public void step(long step, double loss) {
							if (step <= steps && step % JOB_INTERVAL == JOB_INTERVAL / 2) {
								await(measurement);
							}
						}
					})
				.run());
		}
	}

	/** Neither rank computes during a measurement. */
	private static void await(CyclicBarrier barrier) {
		try {
			barrier.await(LIMIT.toSeconds(), TimeUnit.SECONDS);
		}
		catch (InterruptedException | BrokenBarrierException | TimeoutException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void print() {
		long heap = heapBytes();
		IO.println("usage " + AllocatedMemory.bytes().map((bytes) -> bytes - virtualMachineBytes()).orElse(0L) + " "
				+ heap + " " + Pointer.totalCount());
	}

	/**
	 * Bytes of all reachable objects, without what other threads have allocated since the
	 * collection and without the gaps that the collector has left between objects.
	 */
	private static long heapBytes() {
		return diagnose("gcClassHistogram").lines()
			.map((line) -> line.strip().split("\\s+"))
			.filter((words) -> words[0].endsWith(":") && !words[3].contains("jdk.internal.vm.Filler"))
			.mapToLong((words) -> Long.parseLong(words[2]))
			.sum();
	}

	/**
	 * Bytes that the virtual machine has taken by {@code malloc} for itself, without
	 * those of segments and buffers (Other). It takes and frees megabytes while it
	 * compiles.
	 */
	private static long virtualMachineBytes() {
		String report = diagnose("vmNativeMemory", "summary", "scale=b");
		return number(report, "malloc: (\\d+)") - number(report, "Other \\(.*\\)\\s+\\(malloc=(\\d+)");
	}

	private static long number(String report, String pattern) {
		return Pattern.compile(pattern)
			.matcher(report)
			.results()
			.mapToLong((found) -> Long.parseLong(found.group(1)))
			.findFirst()
			.orElseThrow(() -> new IllegalStateException("no " + pattern + " in " + report));
	}

	private static String diagnose(String command, String... arguments) {
		try {
			return (String) ManagementFactory.getPlatformMBeanServer()
				.invoke(new ObjectName("com.sun.management:type=DiagnosticCommand"), command,
						new Object[] { arguments }, new String[] { String[].class.getName() });
		}
		catch (JMException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
