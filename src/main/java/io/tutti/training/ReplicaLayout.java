package io.tutti.training;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.tutti.ProcessGroup;
import org.bytedeco.pytorch.LongArrayRef;
import org.bytedeco.pytorch.Tensor;

/**
 * The shapes of a model's tensors, and which entries are the same tensor. Must be the
 * same on every rank, since gradients are reduced by their position in memory.
 */
final class ReplicaLayout {

	private ReplicaLayout() {
	}

	/**
	 * Compares the layouts of all ranks. A collective call.
	 * @throws ReplicaMismatchException if a rank's layout differs from rank 0's; the
	 * message names the rank and both layouts
	 */
	static void requireSame(ProcessGroup group, List<Tensor> tensors, DataParallelSettings settings) {
		List<String> layouts = TextGather.allGather(group, describe(tensors, settings));
		for (int rank = 1; rank < layouts.size(); rank++) {
			if (!layouts.get(rank).equals(layouts.getFirst())) {
				throw new ReplicaMismatchException("the replicas differ: rank " + rank + " holds " + layouts.get(rank)
						+ ", but rank 0 holds " + layouts.getFirst());
			}
		}
	}

	private static String describe(List<Tensor> tensors, DataParallelSettings settings) {
		int[] first = TensorIdentity.firstIndices(tensors);
		long values = TensorIdentity.distinct(tensors).stream().mapToLong(Tensor::numel).sum();
		return tensors.size() + " tensors of " + values + " values ("
				+ IntStream.range(0, first.length)
					.mapToObj((index) -> (first[index] == index) ? describe(tensors.get(index))
							: "the same as tensor " + (first[index] + 1))
					.collect(Collectors.joining(", "))
				+ "), " + (settings.overlap() ? "overlapped " : "") + "buckets of " + settings.bucketBytes()
				+ " bytes, " + settings.scaling();
	}

	private static String describe(Tensor tensor) {
		return tensor.scalar_type().intern() + (tensor.requires_grad() ? " " : " fixed ") + shape(tensor);
	}

	/** Shape of a tensor, such as {@code 128x64}; empty for a scalar. */
	static String shape(Tensor tensor) {
		List<String> sizes = new ArrayList<>();
		try (LongArrayRef dimensions = tensor.sizes()) {
			for (int index = 0; index < dimensions.size(); index++) {
				sizes.add(Long.toString(dimensions.get(index)));
			}
		}
		return String.join("x", sizes);
	}

}
