package io.tutti.training;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;

import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.spi.Sha256;
import io.tutti.training.internal.TensorIdentity;
import io.tutti.training.internal.TensorMemory;
import io.tutti.training.internal.TextGather;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * What the replicas of a model have in common. Names, types, shapes and strides of a
 * model's tensors, and which names are the same tensor. Must be the same on every rank,
 * since gradients are reduced by their position in memory.
 */
final class ReplicaLayout {

	/** A larger segment may not fit a byte buffer. */
	private static final long MAX_CHECKSUM_BYTES = 1L << 30;

	private ReplicaLayout() {
	}

	/**
	 * Compares the layouts of all ranks. A collective call.
	 * @throws ReplicaMismatchException if a rank's layout differs from rank 0's; the
	 * message names the rank and the first difference
	 */
	static void requireSame(ProcessGroup group, List<Parameter> tensors, DataParallelSettings settings) {
		requireSame(group, describe(tensors, describe(settings)));
	}

	/**
	 * Compares the {@linkplain #describe(List, String) layouts} of all ranks. A
	 * collective call.
	 * @throws ReplicaMismatchException if a rank's layout differs from rank 0's; the
	 * message names the rank and the first difference
	 */
	static void requireSame(ProcessGroup group, String layout) {
		String hash = HexFormat.of().formatHex(Sha256.of(layout.getBytes(StandardCharsets.UTF_8)));
		if (TextGather.allGather(group, hash).stream().allMatch(hash::equals)) {
			return;
		}
		List<String> layouts = TextGather.allGather(group, layout);
		for (int rank = 1; rank < layouts.size(); rank++) {
			if (!layouts.get(rank).equals(layouts.getFirst())) {
				List<String> its = layouts.get(rank).lines().toList();
				List<String> first = layouts.getFirst().lines().toList();
				int different = firstDifference(its, first);
				throw new ReplicaMismatchException("the replicas differ: rank " + rank + " holds "
						+ excerpt(its, different) + ", but rank 0 holds " + excerpt(first, different));
			}
		}
	}

	/**
	 * Compares checksums of the values of all ranks. A collective call.
	 * @throws ReplicaMismatchException on every rank, if the values of a tensor differ;
	 * the message names the first one
	 */
	static void requireSameValues(ProcessGroup group, List<Parameter> tensors) {
		int count = tensors.size();
		int[] checksums = new int[2 * count];
		for (int index = 0; index < count; index++) {
			checksums[index] = checksum(tensors.get(index).tensor());
			checksums[count + index] = ~checksums[index]; // Its least is the largest one.
		}
		group.allReduce(MemorySegment.ofArray(checksums), DataType.INT32, ReduceOp.MIN);
		for (int index = 0; index < count; index++) {
			if (checksums[index] != ~checksums[count + index]) {
				throw new ReplicaMismatchException(tensors.get(index)
						+ " does not have the same values on all ranks in the first step: load values before the model"
						+ " is wrapped, or the same ones on every rank, and make the optimizer's step after"
						+ " synchronizeGradients()");
			}
		}
	}

	private static int checksum(Tensor tensor) {
		CRC32C checksum = new CRC32C();
		try (NoGradGuard _ = new NoGradGuard(); Tensor values = TensorMemory.values(tensor)) {
			MemorySegment memory = TensorMemory.of(values);
			for (long start = 0; start < memory.byteSize(); start += MAX_CHECKSUM_BYTES) {
				long bytes = Math.min(MAX_CHECKSUM_BYTES, memory.byteSize() - start);
				checksum.update(memory.asSlice(start, bytes).asByteBuffer());
			}
		}
		return (int) checksum.getValue();
	}

	private static int firstDifference(List<String> its, List<String> first) {
		int line = 1;
		while (line < its.size() && line < first.size() && its.get(line).equals(first.get(line))) {
			line++;
		}
		return line;
	}

	private static String excerpt(List<String> layout, int line) {
		return layout.getFirst() + ((line < layout.size()) ? ", tensor " + line + " is " + layout.get(line) : "");
	}

	private static String describe(DataParallelSettings settings) {
		return " in buckets of " + settings.bucketBytes() + " bytes, " + settings.scaling() + ", overlap "
				+ settings.overlap() + (settings.broadcastsBuffers() ? ", buffers broadcast" : "")
				+ hook(settings.hook());
	}

	/** The number of tensors and how they are used, then a line for each tensor. */
	static String describe(List<Parameter> tensors, String use) {
		List<Tensor> values = tensors.stream().map(Parameter::tensor).toList();
		int[] first = TensorIdentity.firstIndices(values);
		long count = TensorIdentity.distinct(values).stream().mapToLong(Tensor::numel).sum();
		return tensors.size() + " tensors of " + count + " values" + use + "\n"
				+ IntStream.range(0, first.length)
					.mapToObj((index) -> tensors.get(index).name().replace('\n', ' ') + " "
							+ ((first[index] == index) ? describe(values.get(index))
									: "the same as tensor " + (first[index] + 1)))
					.collect(Collectors.joining("\n"));
	}

	private static String hook(@Nullable BucketHook hook) {
		return (hook != null) ? ", hook " + hook.name() : "";
	}

	private static String describe(Tensor tensor) {
		return tensor.scalar_type().intern() + (tensor.requires_grad() ? " " : " fixed ") + TensorMemory.shape(tensor)
				+ ((tensor.numel() == 0 || tensor.is_contiguous()) ? ""
						: " with strides " + TensorMemory.joined(TensorMemory.strides(tensor)));
	}

}
