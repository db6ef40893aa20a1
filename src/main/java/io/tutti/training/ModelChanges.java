package io.tutti.training;

import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import io.tutti.training.internal.TensorIdentity;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * Finds changes of a wrapped model that would make a rank train parameters that are not
 * synchronized. It looks only when a backward pass has left a parameter without gradient,
 * and at the module's list only in the first step and when a parameter has none for the
 * first time, so that a usual step costs nothing.
 */
final class ModelChanges {

	/** {@code null} if the model is not a module. */
	private final @Nullable Module module;

	/** Parameters that had no gradient in a step. */
	private final BitSet unused = new BitSet();

	/** Whether a step with gradients has been examined. */
	private boolean listed;

	/** Whether a step without any has been examined. */
	private boolean idle;

	ModelChanges(@Nullable Module module) {
		this.module = module;
	}

	/**
	 * Looks for a change after a reduction.
	 * @return what has changed, and the action to take
	 */
	Optional<String> find(List<GradientSlot> slots, GradientStatus status) {
		if (slots.stream().noneMatch(GradientSlot::hasContributed)) {
			boolean first = !this.idle;
			this.idle = true;
			return first ? replaced(slots) : Optional.empty();
		}
		boolean lists = !this.listed;
		this.listed = true;
		for (int index = 0; index < slots.size(); index++) {
			GradientSlot slot = slots.get(index);
			if (slot.hasContributed()) {
				continue;
			}
			if (status.isUsed(index) && !slot.parameter().tensor().requires_grad()) {
				return Optional.of(slot.parameter() + " requires no gradient any more on this rank, but has one on"
						+ " another: freeze parameters on every rank or on none");
			}
			lists |= !this.unused.get(index);
			this.unused.set(index);
		}
		return lists ? replaced(slots) : Optional.empty();
	}

	/** A parameter that the module has got since it was wrapped. */
	private Optional<String> replaced(List<GradientSlot> slots) {
		Module listing = this.module;
		if (listing == null || listing.isNull()) {
			return Optional.empty();
		}
		Set<Long> wrapped = new HashSet<>();
		slots.forEach((slot) -> wrapped.add(TensorIdentity.identity(slot.parameter().tensor())));
		for (Map.Entry<String, Tensor> entry : ModelTensors.of(listing).parameters().entrySet()) {
			try (Tensor tensor = entry.getValue()) {
				if (tensor.requires_grad() && tensor.numel() > 0
						&& !wrapped.contains(TensorIdentity.identity(tensor))) {
					return Optional.of(new Parameter(entry.getKey(), tensor)
							+ " is another tensor than when the model was wrapped: close this DistributedDataParallel and"
							+ " wrap the model again, after such changes");
				}
			}
		}
		return Optional.empty();
	}

}
