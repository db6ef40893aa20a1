package io.tutti.training.job;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;

import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.backend.SimulatedWorld;
import io.tutti.training.DataParallelSettings;
import io.tutti.training.DistributedDataParallel;
import io.tutti.training.ModelTensors;
import io.tutti.training.Overlap;
import io.tutti.training.checkpoint.CheckpointOptions;
import io.tutti.training.table.ClassifierOptions;
import io.tutti.training.table.ClassifierTask;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.Adam;
import org.bytedeco.pytorch.AdamOptions;
import org.bytedeco.pytorch.LinearImpl;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Memory of long trainings, and of a model whose size in bytes is no 32-bit number. Alone
 * in its virtual machine, whose whole memory is measured.
 */
@Timeout(120)
@Isolated
class TrainingMemoryTest {

	private static final Duration LIMIT = Duration.ofSeconds(100);

	private static final int STEPS = 10_000;

	/** Steps between two measurements. */
	private static final int INTERVAL = 1000;

	/** A tensor without data takes about 300 bytes of native memory. */
	private static final long NATIVE_BYTES_PER_STEP = 150;

	/** The smallest object takes 16 bytes of the heap. */
	private static final long HEAP_BYTES_PER_STEP = 15;

	/** Memory that the test with a large parameter needs, with a reserve for others. */
	private static final long LARGE_TEST_BYTES = 12L << 30;

	/**
	 * Memory in use.
	 *
	 * @param allocated bytes that native code has allocated and not freed
	 * @param heap bytes of the heap after a collection
	 * @param objects objects of native code that Java owns
	 */
	private record Usage(long allocated, long heap, long objects) {

		static Usage now() {
			System.gc();
			return new Usage(allocatedBytes().orElse(0L),
					ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed(), Pointer.totalCount());
		}

		/**
		 * The median of the growths between measurements, since the compiler of the
		 * virtual machine takes and frees some megabytes a few times.
		 */
		static void requireFlat(List<Usage> usages) {
			assertThat(usages).hasSize(STEPS / INTERVAL);
			assertThat(median(usages, Usage::heap)).as("growth of the heap per step in %s", usages)
				.isLessThan(HEAP_BYTES_PER_STEP);
			assertThat(median(usages, Usage::allocated)).as("growth of native memory per step in %s", usages)
				.isLessThan(NATIVE_BYTES_PER_STEP);
			assertThat(median(usages, Usage::objects)).as("growth of native objects per step in %s", usages).isZero();
		}

		private static long median(List<Usage> usages, ToLongFunction<Usage> value) {
			long[] growths = IntStream.range(1, usages.size())
				.mapToLong((index) -> value.applyAsLong(usages.get(index)) - value.applyAsLong(usages.get(index - 1)))
				.sorted()
				.toArray();
			return growths[growths.length / 2] / INTERVAL;
		}

	}

	@Test
	void memoryIsFlatOverTenThousandStepsOfALoop() throws Exception {
		List<Usage> usages = new ArrayList<>();
		try (SimulatedWorld world = new SimulatedWorld(1, Timeouts.DEFAULTS)) {
			LinearImpl layer = new LinearImpl(4, 3);
			try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(0), layer,
					DataParallelSettings.defaults().withOverlap(Overlap.ALWAYS));
					Adam adam = new Adam(layer.parameters(), new AdamOptions(0.01))) {
				Tensor rows = torch.ones(2, 4);
				for (int step = 1; step <= STEPS; step++) {
					step(replicas, layer, adam, rows);
					if (step % INTERVAL == 0) {
						usages.add(Usage.now());
					}
				}
			}
		}
		Usage.requireFlat(usages);
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

	/** With a checkpoint every thousand steps, and evaluations. */
	@Test
	void memoryIsFlatOverTenThousandStepsOfAJobWithTwoRanks(@TempDir Path directory) throws Exception {
		List<Usage> usages = new ArrayList<>();
		int epochs = STEPS / 179 + 1; // 1437 samples in batches of 8
		TrainingOptions options = new TrainingOptions(epochs, 8, 1, 1, new CheckpointOptions(directory, 1000, 1), null);
		try (SimulatedWorld world = new SimulatedWorld(2, Timeouts.DEFAULTS)) {
			RankThreads.run(2, LIMIT, (rank) -> new TrainingJob(world.group(rank),
					new ClassifierTask(ClassifierOptions.defaults()), options, new TrainingListener() {
						@Override
						public void step(long step, double loss) {
							if (rank == 0 && step <= STEPS && step % INTERVAL == 0) {
								usages.add(Usage.now());
							}
						}
					})
				.run());
		}
		Usage.requireFlat(usages);
	}

	/**
	 * One parameter of more than 2 GiB, reduced in one list with another parameter. The
	 * ranks share the parameters' memory, but not that of the gradients.
	 */
	@Test
	void aParameterOfMoreThanTwoGibibytesIsReduced() throws Exception {
		long available = availableBytes();
		assumeTrue(available >= LARGE_TEST_BYTES,
				() -> "needs " + LARGE_TEST_BYTES + " bytes of memory, available are " + available);
		long boundary = (1L << 31) / Float.BYTES;
		Tensor huge = torch.empty(boundary + 32);
		try (SimulatedWorld world = new SimulatedWorld(2, Timeouts.DEFAULTS)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				SequencedMap<String, Tensor> parameters = new LinkedHashMap<>();
				parameters.put("huge", huge.detach().requires_grad_(true));
				parameters.put("large", torch.ones(1 << 19).requires_grad_(true));
				parameters.put("small", torch.ones(3).requires_grad_(true));
				try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank),
						ModelTensors.of(parameters),
						DataParallelSettings.defaults().withOverlap(Overlap.ALWAYS).withBucketBytes(1L << 40))) {
					assertThat(replicas.bucketCount()).isEqualTo(2);
					try (PointerScope _ = new PointerScope()) {
						Tensor end = parameters.get("huge").narrow(0, boundary - 8, 40);
						Tensor loss = end.sum()
							.add(parameters.get("large").sum())
							.add(parameters.get("small").sum())
							.mul(new Scalar(1.0 + rank));
						loss.backward();
					}
					replicas.synchronizeGradients();
					assertThat(replicas.allReducedBytes()).isGreaterThan(1L << 31);
					for (Map.Entry<String, Tensor> parameter : parameters.entrySet()) {
						assertValues(parameter.getKey(), parameter.getValue().grad(), boundary);
					}
				}
				return null;
			});
		}
		finally {
			huge.close();
		}
	}

	private static void assertValues(String name, Tensor gradient, long boundary) {
		try (PointerScope _ = new PointerScope()) {
			if (name.equals("huge")) {
				assertThat(gradient.narrow(0, boundary - 8, 40).eq(new Scalar(1.5)).all().item_bool()).isTrue();
				assertThat(gradient.sum().item_float()).isEqualTo(40 * 1.5f);
			}
			else {
				assertThat(gradient.eq(new Scalar(1.5)).all().item_bool()).isTrue();
			}
		}
	}

	/** Bytes that {@code malloc} has given out; empty without glibc 2.33 or later. */
	@SuppressWarnings("restricted") // mallinfo2 returns ten numbers and has no arguments
	private static Optional<Long> allocatedBytes() {
		Linker linker = Linker.nativeLinker();
		MemoryLayout numbers = MemoryLayout.structLayout(MemoryLayout.sequenceLayout(10, ValueLayout.JAVA_LONG));
		return linker.defaultLookup().find("mallinfo2").map((function) -> {
			MethodHandle call = linker.downcallHandle(function, FunctionDescriptor.of(numbers));
			try (Arena arena = Arena.ofConfined()) {
				MemorySegment info = (MemorySegment) call.invoke(arena);
				long mapped = info.getAtIndex(ValueLayout.JAVA_LONG, 4);
				long inUse = info.getAtIndex(ValueLayout.JAVA_LONG, 7);
				return mapped + inUse;
			}
			catch (Throwable ex) {
				throw new IllegalStateException(ex);
			}
		});
	}

	private static long availableBytes() throws IOException {
		Path info = Path.of("/proc/meminfo");
		if (!Files.isReadable(info)) {
			return 0;
		}
		return Files.readAllLines(info)
			.stream()
			.filter((line) -> line.startsWith("MemAvailable:"))
			.mapToLong((line) -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
			.findFirst()
			.orElse(0);
	}

}
