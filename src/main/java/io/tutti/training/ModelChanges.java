package io.tutti.training;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.tutti.training.internal.TensorIdentity;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.jspecify.annotations.Nullable;

/**
 * Finds changes of a wrapped model that would make a rank train parameters that are not
 * synchronized. In each step it compares the list of the module's parameters with that of
 * the step before, and looks at those that were not wrapped.
 */
final class ModelChanges {

	/** {@code null} if the model is not a module. */
	private final @Nullable Module module;

	/** Identities of the parameters with elements that were wrapped. */
	private final Set<Long> wrapped;

	/** Identities of the module's parameters in the last step, one per name. */
	private long[] listed = {};

	/** Indices of those that were not wrapped. */
	private int[] unwrapped = {};

	ModelChanges(@Nullable Module module, List<Parameter> wrapped) {
		this.module = module;
		this.wrapped = wrapped.stream()
			.filter((parameter) -> parameter.tensor().numel() > 0)
			.map((parameter) -> TensorIdentity.identity(parameter.tensor()))
			.collect(Collectors.toSet());
	}

	/**
	 * Looks for a change after a reduction.
	 * @return what has changed, and the action to take
	 */
	Optional<String> find(List<GradientSlot> slots, GradientStatus status) {
		boolean some = slots.stream().anyMatch(GradientSlot::hasContributed);
		for (int index = 0; index < slots.size(); index++) {
			GradientSlot slot = slots.get(index);
			if (some && !slot.hasContributed() && status.isUsed(index) && !slot.parameter().tensor().requires_grad()) {
				return Optional.of(slot.parameter() + " requires no gradient any more on this rank, but has one on"
						+ " another: freeze parameters on every rank or on none");
			}
		}
		Module listing = this.module;
		return (listing != null && !listing.isNull() && isChanged(listing)) ? change(listing) : Optional.empty();
	}

	private boolean isChanged(Module listing) {
		try (TensorVector parameters = listing.parameters()) {
			long[] identities = TensorIdentity.identities(parameters);
			if (!Arrays.equals(identities, this.listed)) {
				this.listed = identities;
				this.unwrapped = IntStream.range(0, identities.length)
					.filter((index) -> !this.wrapped.contains(identities[index]))
					.toArray();
			}
			return IntStream.of(this.unwrapped).mapToObj(parameters::get).anyMatch(ModelChanges::learns);
		}
	}

	private static boolean learns(Tensor parameter) {
		return parameter.requires_grad() && parameter.numel() > 0;
	}

	private Optional<String> change(Module listing) {
		return ModelTensors.of(listing)
			.parameters()
			.entrySet()
			.stream()
			.filter((entry) -> !this.wrapped.contains(TensorIdentity.identity(entry.getValue()))
					&& learns(entry.getValue()))
			.map((entry) -> new Parameter(entry.getKey(), entry.getValue())
					+ " was added or replaced after the model was wrapped: close this DistributedDataParallel and"
					+ " wrap the model again, after such changes")
			.findFirst();
	}

}
