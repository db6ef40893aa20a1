package io.tutti.training;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.tutti.CollectiveListener;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.Engine;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.backend.nccl.CudaDevices;
import io.tutti.engine.device.DeviceCollectives;
import io.tutti.engine.device.HostFallback;
import io.tutti.engine.javacpp.NativeLibraryPreparation;
import io.tutti.training.internal.TensorMemory;
import io.tutti.training.job.TrainingJob;
import io.tutti.training.job.TrainingListener;
import io.tutti.training.job.TrainingOptions;
import io.tutti.training.job.TrainingSummary;
import io.tutti.training.task.DigitsConvolution;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.Device;
import org.bytedeco.pytorch.DeviceGuardImplInterface;
import org.bytedeco.pytorch.LinearImpl;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.SGD;
import org.bytedeco.pytorch.SGDOptions;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;
import org.bytedeco.pytorch.global.torch.DeviceType;
import org.bytedeco.pytorch.global.torch.ScalarType;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/**
 * One of two ranks that train on one GPU, as a separate process. The expected values are
 * computed by each rank alone, from the inputs of both.
 */
final class GpuTrainingRank {

	private static final Duration LIMIT = Duration.ofSeconds(60);

	private static final int RANKS = 2;

	private static final int ROWS = 16;

	private static final int STEPS = 20;

	private static final int LARGE = 4096;

	private final ProcessGroup group;

	private final DeviceCollectives onDevice;

	/** Layers of some hundred elements, and one that is not used. */
	private static final class Net extends Module {

		final LinearImpl first;

		final LinearImpl second;

		final LinearImpl unused = register_module("unused", new LinearImpl(2, 2));

		Net(int width) {
			this.first = register_module("first", new LinearImpl(width, width));
			this.second = register_module("second", new LinearImpl(width, 4));
		}

		static Net onDevice(ScalarType type, int width) {
			torch.manual_seed(7);
			Net net = new Net(width);
			try (Device device = new Device("cuda:0")) {
				net.to(device, type, false);
			}
			return net;
		}

		Tensor loss(int rank, int step, ScalarType type) {
			int width = (int) this.first.weight().size(1);
			Tensor rows = torch.arange(new Scalar((double) ROWS * width))
				.mul(new Scalar(0.01 * (1 + rank)))
				.add(new Scalar(0.1 * step))
				.sin()
				.view(ROWS, width);
			try (Device device = new Device("cuda:0")) {
				Tensor input = rows.to(device, type);
				return this.second.forward(torch.tanh(this.first.forward(input))).square().mean().to(ScalarType.Float);
			}
		}

	}

	private GpuTrainingRank(ProcessGroup group) {
		this.group = group;
		this.onDevice = new DeviceCollectives(group, CudaDevices.runtime(), new HostFallback(false),
				CollectiveListener.NONE, LIMIT);
	}

	public static void main(String[] arguments) {
		String scenario = arguments[0];
		int rank = Integer.parseInt(arguments[1]);
		int code = 0;
		NativeLibraryPreparation.prepare();
		try (Engine engine = Engine.join(
				new RankAssignment(rank, RANKS, rank, RANKS, "127.0.0.1", Integer.parseInt(arguments[2])),
				EngineSettings.DEFAULTS.withBackend("nccl", null), CollectiveListener.NONE)) {
			new GpuTrainingRank(engine.world()).run(scenario);
			System.out.println("rank " + rank + ": " + scenario + " is as it should be");
		}
		catch (Throwable ex) {
			ex.printStackTrace(System.out);
			code = 1;
		}
		Runtime.getRuntime().halt(code);
	}

	private void run(String scenario) {
		switch (scenario) {
			case "gradients" -> gradients();
			case "steps" -> steps();
			case "accumulation" -> accumulation();
			case "job" -> job();
			case "tensors" -> tensors();
			case "speed" -> speed();
			default -> throw new IllegalArgumentException("no scenario " + scenario);
		}
	}

	private DistributedDataParallel replicas(Net net, Overlap overlap, long bucketBytes) {
		return new DistributedDataParallel(this.group, net,
				DataParallelSettings.defaults().withOverlap(overlap).withBucketBytes(bucketBytes), this.onDevice);
	}

	/** The averages of both ranks' gradients, for each type, overlap and bucket size. */
	private void gradients() {
		for (ScalarType type : List.of(ScalarType.Float, ScalarType.Double, ScalarType.Half, ScalarType.BFloat16)) {
			double tolerance = switch (type) {
				case Half -> 1e-3;
				case BFloat16 -> 1e-2;
				default -> 1e-6;
			};
			List<double[]> expected = averages(type);
			for (Overlap overlap : Overlap.values()) {
				for (long bucketBytes : new long[] { 4, 1024, DataParallelSettings.DEFAULT_BUCKET_BYTES }) {
					Net net = Net.onDevice(type, 24);
					try (PointerScope _ = new PointerScope();
							DistributedDataParallel replicas = replicas(net, overlap, bucketBytes)) {
						replicas.zeroGradients();
						net.loss(this.group.rank(), 0, type).backward();
						replicas.synchronizeGradients();
						requireClose(type + ", " + overlap + ", buckets of " + bucketBytes, values(net, true), expected,
								tolerance);
					}
				}
			}
		}
	}

	private static List<double[]> averages(ScalarType type) {
		List<double[]> averages = null;
		for (int rank = 0; rank < RANKS; rank++) {
			Net net = Net.onDevice(type, 24);
			net.loss(rank, 0, type).backward();
			List<double[]> own = values(net, true);
			if (averages == null) {
				averages = own;
				continue;
			}
			for (int index = 0; index < own.size(); index++) {
				for (int element = 0; element < own.get(index).length; element++) {
					averages.get(index)[element] = (averages.get(index)[element] + own.get(index)[element]) / RANKS;
				}
			}
		}
		return averages;
	}

	/**
	 * Training with clipped gradients, compared with one process that sums the losses.
	 */
	private void steps() {
		Net net = Net.onDevice(ScalarType.Float, 24);
		Net alone = Net.onDevice(ScalarType.Float, 24);
		if (this.group.rank() == 1) {
			scramble(net);
		}
		SGD optimizer = optimizer(net);
		SGD reference = optimizer(alone);
		try (DistributedDataParallel replicas = replicas(net, Overlap.ALWAYS, 512);
				TensorVector parameters = alone.parameters()) {
			for (int step = 0; step < STEPS; step++) {
				try (PointerScope _ = new PointerScope()) {
					replicas.zeroGradients();
					net.loss(this.group.rank(), step, ScalarType.Float).backward();
					replicas.synchronizeGradients();
					double norm = replicas.clipGradientNorm(0.05);
					optimizer.step();
					reference.zero_grad();
					Tensor losses = alone.loss(0, step, ScalarType.Float).add(alone.loss(1, step, ScalarType.Float));
					losses.div(new Scalar((double) RANKS)).backward();
					assertThat(norm).isCloseTo(torch.clip_grad_norm_(parameters, 0.05), within(1e-5));
					reference.step();
				}
			}
		}
		requireClose("parameters", values(net, false), values(alone, false), 1e-5);
		double[] own = values(net, false).getFirst();
		double[] both = new double[RANKS * own.length];
		this.group.allGather(own, both);
		assertThat(both).startsWith(own).endsWith(own);
	}

	private static void scramble(Net net) {
		try (NoGradGuard _ = new NoGradGuard()) {
			net.first.weight().fill_(new Scalar(3.0));
		}
	}

	private static SGD optimizer(Net net) {
		SGDOptions options = new SGDOptions(0.1);
		options.momentum().put(0.9);
		return new SGD(net.parameters(), options);
	}

	/** Two backward passes per step, of which the first is not synchronized. */
	private void accumulation() {
		Net net = Net.onDevice(ScalarType.Float, 24);
		Net alone = Net.onDevice(ScalarType.Float, 24);
		try (PointerScope _ = new PointerScope();
				DistributedDataParallel replicas = replicas(net, Overlap.ALWAYS, 512)) {
			replicas.zeroGradients();
			try (var _ = replicas.noSync()) {
				net.loss(this.group.rank(), 0, ScalarType.Float).backward();
			}
			net.loss(this.group.rank(), 1, ScalarType.Float).backward();
			replicas.synchronizeGradients();
			for (int rank = 0; rank < RANKS; rank++) {
				for (int step = 0; step < 2; step++) {
					alone.loss(rank, step, ScalarType.Float).div(new Scalar((double) RANKS)).backward();
				}
			}
			requireClose("gradients", values(net, true), values(alone, true), 1e-5);
		}
	}

	/** A model with batch normalization, which has an integer buffer. */
	private void job() {
		TrainingOptions options = new TrainingOptions(1, 64, 1, 1, null, null);
		TrainingSummary summary = new TrainingJob(this.group,
				new DigitsConvolution(new DigitsConvolution.Options(4, 0.002)), options, TrainingListener.NONE,
				() -> TrainingDevice.choose(DeviceChoice.parse("cuda:0"), this.group, 0, new HostFallback(false),
						CollectiveListener.NONE, LIMIT))
			.run();
		assertThat(summary.parameterSha256()).hasSize(RANKS).containsOnly(summary.parameterSha256().getFirst());
	}

	/**
	 * A tensor that a stream of libtorch's pool still computes when the call is made, and
	 * that is copied for it.
	 */
	private void tensors() {
		DeviceGuardImplInterface streams = torch.getDeviceGuardImpl(DeviceType.CUDA);
		try (PointerScope _ = new PointerScope(); Device device = new Device("cuda:0")) {
			streams.exchangeStream(streams.getStreamFromGlobalPool(device));
			Tensor ones = torch.ones(LARGE, LARGE).to(device, ScalarType.Float);
			Tensor own = ones.mul(new Scalar(1.0 + this.group.rank()));
			for (int step = 0; step < STEPS; step++) {
				own = own.mm(ones).div(new Scalar((double) LARGE));
			}
			Tensor sum = new TensorCollectives(this.group, this.onDevice).allReduce(own.t(), ReduceOp.SUM);
			assertThat(sum.equal(ones.mul(new Scalar(1.0 + 2)))).isTrue();
		}
	}

	/** Prints the time of a step of one model alone and of replicas; requires nothing. */
	private void speed() {
		Net alone = Net.onDevice(ScalarType.Float, LARGE);
		report("alone", alone, optimizer(alone), () -> {
		});
		Net net = Net.onDevice(ScalarType.Float, LARGE);
		try (DistributedDataParallel replicas = replicas(net, Overlap.ALWAYS,
				DataParallelSettings.DEFAULT_BUCKET_BYTES)) {
			report("of replicas", net, optimizer(net), replicas::synchronizeGradients);
		}
	}

	private void report(String what, Net net, SGD optimizer, Runnable synchronization) {
		long start = 0;
		for (int step = 0; step < STEPS; step++) {
			if (step == STEPS / 2) {
				torch.cuda_synchronize(0);
				this.group.barrier();
				start = System.nanoTime();
			}
			try (PointerScope _ = new PointerScope()) {
				optimizer.zero_grad();
				net.loss(this.group.rank(), step, ScalarType.Float).backward();
				synchronization.run();
				optimizer.step();
			}
		}
		torch.cuda_synchronize(0);
		System.out.printf("rank %d: a step %s: %.2f ms, %d parameters%n", this.group.rank(), what,
				(System.nanoTime() - start) / 1e6 / (STEPS - STEPS / 2), (LARGE + 1) * (LARGE + 4));
	}

	/** Parameters or gradients, the unused layer left out. */
	private static List<double[]> values(Net net, boolean gradients) {
		List<double[]> values = new ArrayList<>();
		for (LinearImpl layer : List.of(net.first, net.second)) {
			for (Tensor parameter : List.of(layer.weight(), layer.bias())) {
				Tensor numbers = (gradients ? parameter.grad() : parameter).detach().cpu().to(ScalarType.Double);
				values.add(TensorMemory.of(numbers.contiguous()).toArray(ValueLayout.JAVA_DOUBLE));
			}
		}
		return values;
	}

	private static void requireClose(String what, List<double[]> actual, List<double[]> expected, double tolerance) {
		for (int index = 0; index < expected.size(); index++) {
			double largest = 0;
			for (double number : expected.get(index)) {
				largest = Math.max(largest, Math.abs(number));
			}
			assertThat(actual.get(index)).as("%s, parameter %d", what, index)
				.containsExactly(expected.get(index), within(tolerance * Math.max(largest, 1e-3)));
		}
	}

}
