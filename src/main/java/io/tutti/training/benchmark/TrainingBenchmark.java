package io.tutti.training.benchmark;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.javacpp.NativeLibraryPreparation;
import io.tutti.training.DataParallelSettings;
import io.tutti.training.DistributedDataParallel;
import io.tutti.training.Overlap;
import io.tutti.training.internal.IntraOpThreads;
import io.tutti.training.internal.ProcessEnd;
import org.bytedeco.javacpp.Loader;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.openblas.global.openblas;
import org.bytedeco.pytorch.SGD;
import org.bytedeco.pytorch.SGDOptions;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;

/**
 * Times training steps of one rank: forward pass, backward pass and an update by SGD,
 * with one thread of libtorch. The variants alternate in short blocks, so that changes of
 * the machine's speed affect all of them. All ranks make the same calls.
 */
public final class TrainingBenchmark {

	/** Untimed steps of a block; the order of the buckets is learned in the first. */
	private static final int WARM_UP = 2;

	private static final int ROUNDS = 3;

	private static final int FEWEST_STEPS = 3;

	private static final int MOST_STEPS = 100;

	/** Time of a block, if the number of steps allows it. */
	private static final double BLOCK_MILLIS = 1000;

	private static final double RATE = 1e-4;

	private static final long ALIGNMENT = 4096;

	private final ProcessGroup group;

	private final int batch;

	/**
	 * A benchmark.
	 * @param batch samples per rank and step
	 */
	public TrainingBenchmark(ProcessGroup group, int batch) {
		if (batch < 1) {
			throw new IllegalArgumentException("the batch must have at least 1 sample, got " + batch);
		}
		this.group = group;
		this.batch = batch;
	}

	/**
	 * Variables that let another system's program compute with the OpenBLAS of this one,
	 * so that a difference is not that of the matrix products; empty if it is not a file.
	 */
	public static Map<String, String> environmentOfPeers() {
		Loader.load(openblas.class);
		return NativeLibraryPreparation.loaded("libopenblas.so.0").map(TrainingBenchmark::environment).orElse(Map.of());
	}

	private static Map<String, String> environment(Path library) {
		return Map.of("LD_PRELOAD", library.toString(), "LD_LIBRARY_PATH", library.getParent().toString(),
				"OPENBLAS_NUM_THREADS", "1");
	}

	/** A kind of step. */
	private enum Variant {

		ALONE, WITHOUT_OVERLAP, OVERLAP, AUTOMATIC;

		String label() {
			return (this == ALONE) ? StepMeasurement.ALONE : name().toLowerCase(Locale.ROOT).replace('_', '-');
		}

		/** How gradients are reduced; not for {@link #ALONE}. */
		Overlap overlap() {
			return switch (this) {
				case ALONE, WITHOUT_OVERLAP -> Overlap.NEVER;
				case OVERLAP -> Overlap.ALWAYS;
				case AUTOMATIC -> Overlap.AUTOMATIC;
			};
		}

	}

	/**
	 * Measures one model in all variants. A collective call.
	 * @param lines receives one line per variant, the same on every rank
	 */
	public void run(LayerStack shape, Consumer<StepMeasurement> lines) {
		NativeLibraryPreparation.prepare();
		ProcessEnd.skipFinalizers();
		IntraOpThreads.set(1);
		try (PointerScope _ = new PointerScope(); LayerStack.Network network = shape.network()) {
			TensorVector parameters = network.parameters();
			Step step = new Step(network, torch.randn(this.batch, shape.width()), parameters,
					new SGD(parameters, new SGDOptions(RATE)));
			int steps = steps(step);
			Map<Variant, List<Double>> times = new EnumMap<>(Variant.class);
			double allReduce = Double.MAX_VALUE;
			for (int round = 0; round < ROUNDS; round++) {
				for (Variant variant : Variant.values()) {
					times.computeIfAbsent(variant, (_) -> new ArrayList<>()).addAll(block(step, variant, steps));
				}
				allReduce = Math.min(allReduce, allReduceMillis(shape.parameters(), steps));
			}
			report(shape, times, allReduce, lines);
		}
	}

	private void report(LayerStack shape, Map<Variant, List<Double>> times, double allReduce,
			Consumer<StepMeasurement> lines) {
		double[] alone = summary(times.get(Variant.ALONE));
		for (Variant variant : Variant.values()) {
			double[] own = (variant == Variant.ALONE) ? alone : summary(times.get(variant));
			lines.accept(new StepMeasurement("tutti", variant.label(), this.group.worldSize(), shape.parameters(),
					this.batch, own[0], own[1], alone[0], alone[1], allReduce, times.get(variant).size()));
		}
	}

	/** The slowest rank's median and fastest step. */
	private double[] summary(List<Double> millis) {
		double[] sorted = millis.stream().mapToDouble(Double::doubleValue).sorted().toArray();
		double[] summary = { sorted[sorted.length / 2], sorted[0] };
		this.group.allReduce(summary, ReduceOp.MAX);
		return summary;
	}

	/**
	 * As many steps as fill a block, the same number on every rank. Steps with
	 * communication determine it: they take much longer on a busy machine. The first
	 * block runs before the JIT compiler has done its work, so a second one is timed.
	 */
	private int steps(Step step) {
		int cold = steps(step, FEWEST_STEPS);
		return steps(step, cold);
	}

	private int steps(Step step, int timed) {
		double median = summary(block(step, Variant.WITHOUT_OVERLAP, timed))[0];
		return Math.clamp((int) (BLOCK_MILLIS / median), FEWEST_STEPS, MOST_STEPS);
	}

	/** The times of a block's steps in milliseconds. */
	private List<Double> block(Step step, Variant variant, int steps) {
		if (variant == Variant.ALONE) {
			this.group.barrier();
			return times(steps, step::alone);
		}
		try (DistributedDataParallel replicas = new DistributedDataParallel(this.group, step.network(),
				DataParallelSettings.defaults().withOverlap(variant.overlap()))) {
			this.group.barrier();
			return times(steps, () -> step.with(replicas));
		}
	}

	private static List<Double> times(int steps, Runnable step) {
		List<Double> millis = new ArrayList<>();
		for (int index = 0; index < WARM_UP + steps; index++) {
			long start = System.nanoTime();
			step.run();
			if (index >= WARM_UP) {
				millis.add((System.nanoTime() - start) / 1e6);
			}
		}
		return millis;
	}

	/** Fastest all-reduce of as many float32 values from private memory. */
	private double allReduceMillis(long parameters, int steps) {
		try (Arena arena = Arena.ofShared()) {
			MemorySegment values = arena.allocate(parameters * Float.BYTES, ALIGNMENT);
			double[] fastest = {
					times(steps, () -> this.group.allReduce(values, DataType.FLOAT32, ReduceOp.AVERAGE)).stream()
						.mapToDouble(Double::doubleValue)
						.min()
						.orElseThrow() };
			this.group.allReduce(fastest, ReduceOp.MAX);
			return fastest[0];
		}
	}

	/** The objects of a step. */
	private record Step(LayerStack.Network network, Tensor input, TensorVector parameters, SGD optimizer) {

		/** A step without communication that drops its gradients. */
		void alone() {
			try (PointerScope _ = new PointerScope()) {
				this.optimizer.zero_grad();
				this.network.loss(this.input).backward();
				this.optimizer.step();
			}
		}

		void with(DistributedDataParallel replicas) {
			try (PointerScope _ = new PointerScope()) {
				replicas.zeroGradients();
				this.network.loss(this.input).backward();
				replicas.synchronizeGradients();
				this.optimizer.step();
			}
		}

	}

}
