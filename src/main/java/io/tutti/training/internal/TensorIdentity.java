package io.tutti.training.internal;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.IntStream;

import org.bytedeco.javacpp.LongPointer;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorImpl;
import org.bytedeco.pytorch.TensorVector;

/**
 * Finds the entries of a model that are the same tensor: libtorch lists a tensor once for
 * each name that it is registered under. Entries are the same tensor if they have the
 * same {@code TensorImpl}, and so the same gradient. Tensors that only share memory have
 * separate gradients.
 */
public final class TensorIdentity {

	private TensorIdentity() {
	}

	/** The tensors without duplicates, in order of their first occurrence. */
	public static List<Tensor> distinct(List<Tensor> tensors) {
		return distinct(tensors, Function.identity());
	}

	/** The entries whose tensors are those of no entry before. */
	public static <T> List<T> distinct(List<T> entries, Function<T, Tensor> tensor) {
		int[] first = firstIndices(entries.stream().map(tensor).toList());
		return IntStream.range(0, first.length)
			.filter((index) -> first[index] == index)
			.mapToObj(entries::get)
			.toList();
	}

	/** For each entry the index of the tensor's first occurrence. */
	public static int[] firstIndices(List<Tensor> tensors) {
		Map<Long, Integer> firstByTensor = new HashMap<>();
		int[] first = new int[tensors.size()];
		for (int index = 0; index < first.length; index++) {
			Integer earlier = firstByTensor.putIfAbsent(identity(tensors.get(index)), index);
			first[index] = (earlier != null) ? earlier : index;
		}
		return first;
	}

	/**
	 * Identities of all tensors of a list, read at once: it holds pointers to their
	 * {@code TensorImpl}s.
	 */
	public static long[] identities(TensorVector tensors) {
		long[] identities = new long[Math.toIntExact(tensors.size())];
		if (identities.length > 0) {
			try (Tensor first = tensors.get(0); LongPointer pointers = new LongPointer(first)) {
				pointers.get(identities);
			}
		}
		return identities;
	}

	/** Identity of a tensor, as long as it exists. */
	public static long identity(Tensor tensor) {
		try (TensorImpl shared = tensor.unsafeGetTensorImpl()) {
			return shared.address();
		}
	}

}
