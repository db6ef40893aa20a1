package io.tutti.training.checkpoint;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.tutti.ProcessGroup;
import io.tutti.TestJvm;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.backend.SimulatedWorld;
import io.tutti.engine.javacpp.NativeLibraryPreparation;
import io.tutti.training.AllocatedMemory;
import io.tutti.training.ModelTensors;
import io.tutti.training.ShardedOptimizer;
import io.tutti.training.TrainingDevice;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.Adam;
import org.bytedeco.pytorch.AdamOptions;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * Memory of checkpoints of an optimizer that is divided among the ranks. It is measured
 * in a process of its own, since other tests allocate memory too, and without the second
 * compiler, which does the same.
 */
@Timeout(120)
class DividedStateMemoryTest {

	/** In units of one model, whose optimizer has a state of two. */
	@Test
	void aRankHoldsItsPartOfTheStateOnlyAndCopiesNoModelThatItDoesNotWrite(@TempDir Path directory) throws Exception {
		assumeThat(AllocatedMemory.bytes()).as("mallinfo2, with which the test measures").isPresent();
		NativeLibraryPreparation.prepare();
		Process process = new ProcessBuilder(TestJvm.command(Ranks.class, directory)).redirectErrorStream(true).start();
		try {
			String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
			assertThat(process.waitFor(1, TimeUnit.SECONDS)).isTrue();
			assertThat(process.exitValue()).as(output).isZero();
			assertThat(models(output, "restoring")).as("three models, the parts of one state, and these in libtorch")
				.isBetween(6.0, 9.0);
			assertThat(models(output, "saved"))
				.as("one model, the archives of the parts, and those of two ranks on rank 0")
				.isBetween(3.5, 5.3);
		}
		finally {
			process.destroyForcibly();
		}
	}

	private static double models(String output, String name) {
		return output.lines()
			.filter((line) -> line.startsWith(name + " "))
			.mapToDouble((line) -> Double.parseDouble(line.substring(name.length() + 1)))
			.reduce((_, last) -> last)
			.orElseThrow(() -> new AssertionError(output));
	}

	/**
	 * Trains one step and saves it, twice. Prints what all ranks have allocated in
	 * addition.
	 */
	static final class Ranks {

		private static final int RANKS = 3;

		private static final int VALUES = 1 << 21;

		private static final double MODEL = RANKS * (double) VALUES * Float.BYTES;

		private static final CyclicBarrier TOGETHER = new CyclicBarrier(RANKS);

		private Ranks() {
		}

		static void main(String[] arguments) throws Exception {
			Path directory = Path.of(arguments[0]);
			for (long from = 0; from < 2; from++) {
				long step = from;
				try (SimulatedWorld world = new SimulatedWorld(RANKS, Timeouts.DEFAULTS)) {
					RankThreads.run(RANKS, Duration.ofSeconds(60), (rank) -> {
						run(world.group(rank), directory, step);
						return null;
					});
				}
			}
		}

		private static void run(ProcessGroup group, Path directory, long from) {
			Map<String, Tensor> parameters = new LinkedHashMap<>();
			for (int index = 0; index < RANKS; index++) {
				parameters.put("p" + index, torch.ones(VALUES).requires_grad_(true));
			}
			ModelTensors tensors = ModelTensors.of(parameters);
			try (ShardedOptimizer optimizer = new ShardedOptimizer(group, tensors,
					(own) -> new Adam(own, new AdamOptions(0.01)));
					CheckpointStore store = new CheckpointStore(group, new CheckpointOptions(directory, 0, 9),
							new JobFingerprint(List.of()),
							new ModelState(group, tensors, optimizer, TrainingDevice.CPU), (_) -> {
							}, 0)) {
				long before = allocated();
				AtomicLong restoring = new AtomicLong();
				store.restore((_) -> restoring.set(allocated() - before));
				gradients(parameters);
				optimizer.step();
				long trained = allocated();
				store.save(new Progress(from + 1, 0, 0));
				store.finish();
				long saved = allocated() - trained;
				if (group.rank() == 0) {
					IO.println("restoring " + restoring.get() / MODEL);
					IO.println("saved " + saved / MODEL);
				}
			}
			finally {
				parameters.values().forEach(Tensor::close);
			}
		}

		private static void gradients(Map<String, Tensor> parameters) {
			try (PointerScope _ = new PointerScope()) {
				parameters.values().forEach((parameter) -> torch.sin(parameter).sum().backward());
			}
		}

		/** Native memory when all ranks have come here. */
		private static long allocated() {
			try {
				TOGETHER.await();
				long allocated = AllocatedMemory.bytes().orElseThrow();
				TOGETHER.await();
				return allocated;
			}
			catch (InterruptedException | BrokenBarrierException ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

}
