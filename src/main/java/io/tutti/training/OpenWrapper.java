package io.tutti.training;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.tutti.ProcessGroup;
import io.tutti.training.internal.TensorIdentity;

/**
 * What an open wrapper holds of its process: parameters, whose gradients two wrappers
 * would reduce twice, and a group. If wrappers of one group overlap, ranks that complete
 * gradients in different orders reduce those of one model with those of another. libtorch
 * keeps a parameter's hooks for the whole process, and so do these records.
 */
final class OpenWrapper implements AutoCloseable {

	private static final List<OpenWrapper> OPEN = new ArrayList<>();

	/** The same for all views of a group, such as one with another label. */
	private final Object group;

	private final Overlap overlap;

	/** The parameters, whose tensors stay alive until {@link #close()}. */
	private final Set<Long> parameters = new HashSet<>();

	/** Whether no other wrapper was opened in the group. */
	private volatile boolean alone = true;

	private OpenWrapper(ProcessGroup group, Overlap overlap) {
		this.group = group.shared(Object.class, OpenWrapper.class, Object::new, (_) -> {
		});
		this.overlap = overlap;
	}

	/**
	 * Opens a wrapper. An automatic overlap ends for all wrappers of a group if there is
	 * more than one.
	 * @throws IllegalArgumentException if another wrapper holds one of the parameters, or
	 * there is another wrapper of the group and one of them always overlaps
	 */
	static OpenWrapper of(ProcessGroup group, List<Parameter> parameters, Overlap overlap) {
		OpenWrapper wrapper = new OpenWrapper(group, overlap);
		synchronized (OPEN) {
			for (Parameter parameter : parameters) {
				wrapper.add(parameter);
			}
			List<OpenWrapper> others = OPEN.stream()
				.filter((other) -> other.group == wrapper.group && group.worldSize() > 1)
				.toList();
			others.forEach((other) -> other.requireNoOverlap(overlap));
			others.forEach((other) -> other.alone = false);
			wrapper.alone = others.isEmpty();
			OPEN.add(wrapper);
		}
		return wrapper;
	}

	private void add(Parameter parameter) {
		long identity = TensorIdentity.identity(parameter.tensor());
		this.parameters.add(identity);
		if (OPEN.stream().anyMatch((other) -> other.parameters.contains(identity))) {
			throw new IllegalArgumentException(
					parameter + " is wrapped by another DistributedDataParallel of this process, and its gradient"
							+ " would be reduced twice: close that one first, or wrap all of the model once");
		}
	}

	private void requireNoOverlap(Overlap next) {
		if (this.overlap == Overlap.ALWAYS || next == Overlap.ALWAYS) {
			throw new IllegalArgumentException(
					((this.overlap == Overlap.ALWAYS) ? "another DistributedDataParallel of this group overlaps"
							: "there is another DistributedDataParallel of this group, so this one cannot overlap")
							+ ": give each a group of its own (group.split), or choose Overlap.AUTOMATIC or NEVER");
		}
	}

	/** Whether an automatic overlap is possible. */
	boolean isAlone() {
		return this.alone;
	}

	@Override
	public void close() {
		synchronized (OPEN) {
			OPEN.remove(this);
		}
	}

}
