package io.tutti.training;

import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.LongStream;

import io.tutti.training.internal.TensorIdentity;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.jspecify.annotations.Nullable;

/**
 * Finds changes of a wrapped model that would make a rank train parameters that are not
 * synchronized. It counts the module's parameters in each step, and examines them if
 * their number has changed or a backward pass has left one without gradient.
 */
final class ModelChanges {

	/** {@code null} if the model is not a module. */
	private final @Nullable Module module;

	/** Identities of the parameters that are synchronized. */
	private final Set<Long> wrapped = new HashSet<>();

	/** Number of the module's parameters when they were last examined. */
	private long examined = -1;

	/** Whether a step without any gradient, as with an empty share, has been examined. */
	private boolean idle;

	ModelChanges(@Nullable Module module) {
		this.module = module;
	}

	/**
	 * Looks for a change after a reduction.
	 * @return what has changed, and the action to take
	 */
	Optional<String> find(List<GradientSlot> slots, GradientStatus status) {
		boolean some = slots.stream().anyMatch(GradientSlot::hasContributed);
		boolean all = true;
		for (int index = 0; index < slots.size(); index++) {
			GradientSlot slot = slots.get(index);
			if (slot.hasContributed()) {
				continue;
			}
			all = false;
			if (some && status.isUsed(index) && !slot.parameter().tensor().requires_grad()) {
				return Optional.of(slot.parameter() + " requires no gradient any more on this rank, but has one on"
						+ " another: freeze parameters on every rank or on none");
			}
		}
		Module listing = this.module;
		if (listing == null || listing.isNull()) {
			return Optional.empty();
		}
		if (this.wrapped.isEmpty()) {
			slots.forEach((slot) -> this.wrapped.add(TensorIdentity.identity(slot.parameter().tensor())));
		}
		boolean examine = some ? !all : !this.idle;
		this.idle |= !some;
		return isChanged(listing, examine) ? change(listing) : Optional.empty();
	}

	private boolean isChanged(Module listing, boolean examine) {
		try (TensorVector parameters = listing.parameters()) {
			long count = parameters.size();
			if (!examine && count == this.examined) {
				return false;
			}
			this.examined = count;
			return LongStream.range(0, count).mapToObj(parameters::get).anyMatch(this::isUnsynchronized);
		}
	}

	private boolean isUnsynchronized(Tensor parameter) {
		return parameter.requires_grad() && parameter.numel() > 0
				&& !this.wrapped.contains(TensorIdentity.identity(parameter));
	}

	private Optional<String> change(Module listing) {
		return ModelTensors.of(listing)
			.parameters()
			.entrySet()
			.stream()
			.filter((entry) -> isUnsynchronized(entry.getValue()))
			.map((entry) -> new Parameter(entry.getKey(), entry.getValue())
					+ " is another tensor than when the model was wrapped: close this DistributedDataParallel and"
					+ " wrap the model again, after such changes")
			.findFirst();
	}

}
