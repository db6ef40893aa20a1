package io.tutti.training;

import java.util.Arrays;

import io.tutti.ExitCode;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorBase;
import org.bytedeco.pytorch.TensorTensorHook;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;

/**
 * Batch normalization over the samples of all ranks. In training it computes mean and
 * variance of the whole batch with two all-reduces, and its backward pass makes two more,
 * so that results, gradients of the input and running statistics are those of one process
 * with the whole batch, up to rounding. In evaluation mode it makes no calls.
 * <p>
 * Parameters and buffers have the names and the meaning of libtorch's batch
 * normalization: {@code weight}, {@code bias}, {@code running_mean}, {@code running_var}
 * (unbiased) and {@code num_batches_tracked}. Shares of the batch may be of unequal size,
 * also empty, but every rank runs the same forward and backward passes in the same order.
 * The idea is S. Ioffe, C. Szegedy, "Batch Normalization", ICML 2015, with the statistics
 * of all ranks. Use a group of its own ({@link ProcessGroup#split}): during the backward
 * pass the calls take turns with those of {@link DistributedDataParallel} otherwise, in
 * an order that may differ between ranks.
 * <p>
 * The gradients of {@code weight} and {@code bias} are those of this rank's samples and
 * are reduced like those of other parameters. A failed call in the backward pass aborts
 * the group. Not thread-safe.
 */
public final class SynchronizedBatchNorm extends Module {

	private final ProcessGroup group;

	private final TensorCollectives collectives;

	private final long features;

	private final double epsilon;

	private final double momentum;

	private final Tensor weight;

	private final Tensor bias;

	private final Tensor runningMean;

	private final Tensor runningVariance;

	private final Tensor batches;

	/** Autograd calls it, so that it must stay reachable. */
	private final TensorTensorHook sumOfGradients;

	/**
	 * A normalization with libtorch's defaults: epsilon 1e-5 and momentum 0.1.
	 * @param group the ranks that share each batch; must outlive this module
	 * @param features number of channels: size of the input's second dimension
	 */
	public SynchronizedBatchNorm(ProcessGroup group, long features) {
		this(group, features, 1e-5, 0.1);
	}

	/**
	 * A normalization.
	 * @param group the ranks that share each batch; must outlive this module
	 * @param features number of channels: size of the input's second dimension
	 * @param epsilon added to the variance, at least 0
	 * @param momentum weight of the newest batch in the running statistics, from 0 to 1
	 */
	public SynchronizedBatchNorm(ProcessGroup group, long features, double epsilon, double momentum) {
		if (features < 1 || !(epsilon >= 0) || !(momentum >= 0 && momentum <= 1)) {
			throw new IllegalArgumentException("needs at least 1 feature, epsilon >= 0 and momentum from 0 to 1, got "
					+ features + ", " + epsilon + " and " + momentum);
		}
		this.group = group;
		this.collectives = new TensorCollectives(group);
		this.features = features;
		this.epsilon = epsilon;
		this.momentum = momentum;
		this.weight = new Tensor(register_parameter("weight", torch.ones(features)));
		this.bias = new Tensor(register_parameter("bias", torch.zeros(features)));
		this.runningMean = new Tensor(register_buffer("running_mean", torch.zeros(features)));
		this.runningVariance = new Tensor(register_buffer("running_var", torch.ones(features)));
		this.batches = new Tensor(
				register_buffer("num_batches_tracked", torch.zeros(new long[0]).to(torch.ScalarType.Long)));
		this.sumOfGradients = new SumOfGradients();
	}

	/**
	 * Normalizes a batch. A collective call in training mode.
	 * @param input this rank's samples, {@code [samples, features, …]}, of a floating
	 * type in main memory; {@code samples} may be 0
	 * @return a tensor of the same shape and type
	 * @throws IllegalArgumentException if the shape or type differs, before any call; the
	 * group is aborted, since the other ranks wait
	 * @throws IllegalStateException on every rank, if the whole batch has less than two
	 * values per feature
	 */
	public Tensor forward(Tensor input) {
		if (input.dim() < 2 || input.size(1) != this.features || !input.is_floating_point()) {
			String problem = "rank " + this.group.rank() + ": the input of the batch normalization must be [samples, "
					+ this.features + ", ...] of a floating type, got " + Arrays.toString(input.shape()) + " of "
					+ input.scalar_type().intern();
			this.group.abort(ExitCode.PEER_LOST, problem);
			throw new IllegalArgumentException(problem);
		}
		Tensor wide = (input.scalar_type().intern() == torch.ScalarType.Double) ? input
				: input.to(torch.ScalarType.Float);
		Tensor normalized = is_training() ? normalizedByBatch(wide)
				: normalized(wide.sub(perFeature(this.runningMean, wide)), this.runningVariance);
		return normalized.mul(perFeature(this.weight, wide)).add(perFeature(this.bias, wide)).to(input.scalar_type());
	}

	/** Two passes over the values, since a difference of squares would lose digits. */
	private Tensor normalizedByBatch(Tensor input) {
		Tensor all = summed(torch.cat(new TensorVector(sums(input), count(input)), 0));
		double count;
		try (Tensor last = all.detach().select(0, this.features)) {
			count = last.item_double();
		}
		if (count < 2) {
			throw new IllegalStateException("batch normalization needs at least 2 values per feature in the batch of"
					+ " all ranks, got " + (long) count);
		}
		Tensor mean = all.narrow(0, 0, this.features).div(new Scalar(count));
		Tensor centered = input.sub(perFeature(mean, input));
		Tensor variance = summed(sums(centered.square())).div(new Scalar(count));
		track(mean, variance, count);
		return normalized(centered, variance);
	}

	private Tensor normalized(Tensor centered, Tensor variance) {
		return centered.div(perFeature(variance.add(new Scalar(this.epsilon)).sqrt(), centered));
	}

	/** Sums over all dimensions but the features, in float64. */
	private Tensor sums(Tensor values) {
		return values.transpose(0, 1).reshape(this.features, -1).to(torch.ScalarType.Double).sum(1);
	}

	private Tensor count(Tensor input) {
		return torch.ones(1).to(torch.ScalarType.Double).mul(new Scalar((double) (input.numel() / this.features)));
	}

	/**
	 * The sum of all ranks' tensors, through which gradients flow: each rank's operand
	 * gets the sum of the gradients of all ranks' results.
	 */
	private Tensor summed(Tensor own) {
		Tensor all = this.collectives.allReduce(own, ReduceOp.SUM);
		if (!own.requires_grad()) {
			return all;
		}
		// Its value is exactly the sum, its derivative that of this rank's operand.
		Tensor result = own.sub(own.detach()).add(all);
		result.register_hook(this.sumOfGradients);
		return result;
	}

	private void track(Tensor mean, Tensor variance, double count) {
		try (PointerScope _ = new PointerScope(); NoGradGuard _ = new NoGradGuard()) {
			this.runningMean.mul_(new Scalar(1 - this.momentum)).add_(mean, new Scalar(this.momentum));
			this.runningVariance.mul_(new Scalar(1 - this.momentum))
				.add_(variance, new Scalar(this.momentum * count / (count - 1)));
			this.batches.add_(new Scalar(1L));
		}
	}

	/** Values per feature in the shape and type of an input. */
	private Tensor perFeature(Tensor values, Tensor input) {
		long[] shape = new long[(int) input.dim()];
		Arrays.fill(shape, 1);
		shape[1] = this.features;
		return values.view(shape).to(input.scalar_type());
	}

	/**
	 * All-reduces a gradient during the backward pass; the sum's own derivative is
	 * another sum, for gradients of gradients.
	 */
	private final class SumOfGradients extends TensorTensorHook {

		/** An exception ends the backward pass. */
		@Override
		public TensorBase call(TensorBase gradient) {
			try {
				return summed(new Tensor(gradient));
			}
			catch (RuntimeException | Error ex) {
				ProcessGroup ranks = SynchronizedBatchNorm.this.group;
				ranks.abort(ExitCode.PEER_LOST,
						"rank " + ranks.rank() + ": the backward pass of a batch normalization failed: " + ex);
				throw ex;
			}
		}

	}

}
