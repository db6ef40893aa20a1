package io.tutti.training;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorImpl;

/**
 * Which tensors of a model are one: libtorch lists a tensor once for each name that it is
 * registered under. One means one {@code TensorImpl}, which has one gradient, and not one
 * memory: tensors that share memory have a gradient each.
 */
final class TensorIdentity {

	private TensorIdentity() {
	}

	/** The tensors, each where it is listed first. */
	static List<Tensor> distinct(List<Tensor> tensors) {
		int[] first = firstIndices(tensors);
		return IntStream.range(0, first.length)
			.filter((index) -> first[index] == index)
			.mapToObj(tensors::get)
			.toList();
	}

	/** For each tensor the index where it is listed first. */
	static int[] firstIndices(List<Tensor> tensors) {
		Map<Long, Integer> firstByTensor = new HashMap<>();
		int[] first = new int[tensors.size()];
		for (int index = 0; index < first.length; index++) {
			Integer earlier = firstByTensor.putIfAbsent(identity(tensors.get(index)), index);
			first[index] = (earlier != null) ? earlier : index;
		}
		return first;
	}

	private static long identity(Tensor tensor) {
		try (TensorImpl shared = tensor.unsafeGetTensorImpl()) {
			return shared.address();
		}
	}

}
