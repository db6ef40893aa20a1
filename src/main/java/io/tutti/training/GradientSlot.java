package io.tutti.training;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.LongPredicate;

import io.tutti.DataType;
import io.tutti.training.internal.TensorIdentity;
import io.tutti.training.internal.TensorMemory;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.ScalarOptional;
import org.bytedeco.pytorch.Storage;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptions;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * The gradient of one parameter. It stays in the memory into which autograd has written
 * it, unless it shares that memory or has another layout than on the other ranks.
 */
final class GradientSlot {

	private final Parameter parameter;

	private final DataType type;

	private final long bytes;

	private final ParameterPlacement place;

	private final long[] sizes;

	/** The layout in memory, the same on every rank. */
	private final long[] strides;

	/** Whether autograd has accumulated into the gradient in this step. */
	private boolean computed;

	/** Whether that was added to the gradient of the step before. */
	private boolean added;

	private final LongPredicate ofSeveral;

	/** Whether this rank had a gradient when it was taken. */
	private boolean contributed;

	/** The gradient of this step while it is reduced. */
	private @Nullable Tensor taken;

	/**
	 * The parameter's gradient while another thread reduces the real one: NaN, and all
	 * elements at one address, so that libtorch refuses to write to it. Made on first
	 * use.
	 */
	private @Nullable Tensor placeholder;

	/** Whether the placeholder stands for the gradient that was taken. */
	private boolean concealed;

	/** State of the gradient before the last accumulation. */
	private State before = State.UNDEFINED;

	/** State of the gradient after the last step. */
	private State reduced = State.UNDEFINED;

	/**
	 * The placeholder as it was put in place. libtorch refuses writes to it unless it has
	 * one element; then those that it counts are noticed.
	 */
	private State placed = State.UNDEFINED;

	/** Identity and version of a gradient tensor. */
	private record State(long address, long version) {

		static final State UNDEFINED = new State(0, 0);

		static State of(Tensor gradient) {
			return gradient.defined() ? new State(TensorIdentity.identity(gradient), gradient._version()) : UNDEFINED;
		}

	}

	/**
	 * @param ofSeveral whether several parameters have the tensor of this identity as
	 * their gradient now
	 */
	GradientSlot(Parameter parameter, DataType type, LongPredicate ofSeveral) {
		this.parameter = parameter;
		this.ofSeveral = ofSeveral;
		this.type = type;
		Tensor tensor = parameter.tensor();
		this.place = ParameterPlacement.of(tensor);
		this.bytes = Math.multiplyExact(tensor.numel(), type.bytes());
		this.sizes = tensor.shape();
		this.strides = tensor.is_non_overlapping_and_dense() ? TensorMemory.strides(tensor)
				: TensorMemory.rowMajor(this.sizes);
	}

	Parameter parameter() {
		return this.parameter;
	}

	DataType type() {
		return this.type;
	}

	long bytes() {
		return this.bytes;
	}

	/**
	 * Records the state of the gradient before autograd may accumulate into it. If that
	 * of the step before has been dropped, the next one may get its address.
	 */
	void announce() {
		if (this.concealed && isUntouched()) {
			// Autograd must not add to the placeholder.
			this.parameter.tensor().mutable_grad().reset();
		}
		this.before = current();
		this.reduced = carried(this.before);
	}

	/**
	 * The state if it is that of the gradient of the step before. One that was changed in
	 * place since, such as scaled, still is, unless it was set to zero.
	 */
	private State carried(State now) {
		boolean same = now.address() == this.reduced.address()
				&& (now.version() == this.reduced.version() || !isZero());
		return same ? now : State.UNDEFINED;
	}

	private boolean isZero() {
		try (Tensor gradient = this.parameter.tensor().grad(); Tensor any = gradient.any()) {
			return !any.item_bool();
		}
	}

	/**
	 * Whether autograd has accumulated into the gradient since {@link #announce()}.
	 * {@code torch.grad} calls the hooks too, but accumulates nothing.
	 */
	boolean isAccumulated() {
		return !current().equals(this.before);
	}

	/** Records that autograd has accumulated into the gradient. */
	void accumulated() {
		this.added = !this.reduced.equals(State.UNDEFINED);
	}

	/**
	 * Whether the gradient is still that of the step before, or was added to it.
	 */
	boolean isStale() {
		State now = current();
		return !now.equals(State.UNDEFINED) && (this.added ? !isZero() : now.equals(carried(now)));
	}

	/**
	 * Records that a backward pass has computed the gradient.
	 * @return whether it is the first time in this step
	 */
	boolean complete() {
		boolean first = !this.computed;
		this.computed = true;
		return first;
	}

	/** Whether this rank has a gradient for this step. */
	boolean contributes() {
		if (this.taken != null) {
			return this.contributed;
		}
		try (Tensor gradient = this.parameter.tensor().grad()) {
			return gradient.defined();
		}
	}

	/** Whether this rank had a gradient in the last reduction. */
	boolean hasContributed() {
		return this.contributed;
	}

	/**
	 * The gradient for the reduction, zeros if there is none. The slot keeps it alive
	 * until {@link #release()}.
	 * @throws IllegalStateException if the gradient is sparse, or the parameter has got
	 * another type, shape or device
	 */
	Tensor take() {
		// A scope of the caller would hold the gradient until it closes.
		try (PointerScope _ = new PointerScope(); Tensor gradient = this.parameter.tensor().grad()) {
			this.contributed = gradient.defined();
			Tensor dense = isReducible(gradient) ? new Tensor(gradient) : copy(gradient);
			dense.retainReference();
			this.taken = dense;
			return dense;
		}
	}

	/**
	 * Takes the gradient away from the parameter until {@link #release()}, since another
	 * thread reduces it: a change would reach only some of the ranks. libtorch's
	 * {@code clip_grad_norm_} and others write without a trace in the gradient's version.
	 */
	void conceal() {
		if (this.placeholder == null || !State.of(this.placeholder).equals(this.placed)) {
			close();
			try (PointerScope _ = new PointerScope();
					NoGradGuard _ = new NoGradGuard();
					TensorOptions options = this.parameter.tensor().options();
					Tensor value = torch.scalar_tensor(new Scalar(Double.NaN), options)) {
				Tensor expanded = value.expand(this.sizes);
				expanded.retainReference();
				this.placeholder = expanded;
				this.placed = State.of(expanded);
			}
		}
		this.concealed = true;
		this.parameter.tensor().mutable_grad().put(this.placeholder);
	}

	/** The announced gradient was not accumulated: {@link #announce()} is undone. */
	void notAccumulated() {
		if (this.concealed && current().equals(State.UNDEFINED)) {
			conceal();
		}
	}

	/** The memory of the gradient that was taken. */
	MemorySegment memory() {
		return TensorMemory.of(taken());
	}

	Tensor taken() {
		Tensor gradient = this.taken;
		if (gradient == null) {
			throw new IllegalStateException("the gradient of " + this.parameter + " is not being reduced");
		}
		return gradient;
	}

	/** Whether the program has left the placeholder, if there is one. */
	boolean isUntouched() {
		return !this.concealed || current().equals(this.placed);
	}

	/** Ends the reduction; the gradient is the parameter's only one again. */
	void release() {
		Tensor gradient = this.taken;
		this.taken = null;
		this.computed = false;
		if (gradient != null) {
			if (this.concealed) {
				this.concealed = false;
				this.parameter.tensor().mutable_grad().put(gradient);
			}
			gradient.releaseReference();
		}
	}

	/** Frees the placeholder. */
	void close() {
		if (this.placeholder != null) {
			this.placeholder.releaseReference();
			this.placeholder = null;
		}
	}

	/** Records the gradient as the result of a step. */
	void recordReduced() {
		this.reduced = current();
		this.added = false;
	}

	/** Square of the gradient's 2-norm in float64; 0 without a gradient. */
	double squaredNorm() {
		Tensor gradient = this.parameter.tensor().grad();
		if (!gradient.defined()) {
			return 0;
		}
		double norm = torch.norm(gradient, new ScalarOptional(new Scalar(2.0)), torch.ScalarType.Double).item_double();
		return norm * norm;
	}

	/** Multiplies the gradient of the last step. */
	void scale(double factor) {
		Tensor gradient = this.parameter.tensor().grad();
		if (gradient.defined()) {
			gradient.mul_(new Scalar(factor));
			recordReduced();
		}
	}

	/** Removes the gradient, so that autograd writes the next one instead of adding. */
	void drop() {
		this.parameter.tensor().mutable_grad().reset();
		this.concealed = false;
		this.reduced = State.UNDEFINED;
		this.added = false;
	}

	private State current() {
		try (Tensor gradient = this.parameter.tensor().grad()) {
			return State.of(gradient);
		}
	}

	/** Whether the parameter has the tensor of this identity as its gradient now. */
	boolean has(long identity) {
		try (Tensor gradient = this.parameter.tensor().grad()) {
			return gradient.defined() && TensorIdentity.identity(gradient) == identity;
		}
	}

	/**
	 * Whether the gradient can be reduced where it is. Memory that it shares with another
	 * tensor may be read by the rest of the backward pass, or be another gradient.
	 */
	private boolean isReducible(Tensor gradient) {
		if (!gradient.defined()) {
			return false;
		}
		if (gradient.layout().intern() != torch.Layout.Strided) {
			throw new IllegalStateException("the gradient of " + this.parameter
					+ " is sparse, which cannot be reduced: use the layer without sparse gradients");
		}
		try (Storage storage = gradient.storage()) {
			return storage.use_count() == 1 && !isOfSeveral(gradient) && TensorMemory.holdsValues(gradient)
					&& TensorMemory.type(gradient).filter(this.type::equals).isPresent() && hasLayout(gradient)
					&& gradient.is_cpu() == this.place.isHost();
		}
	}

	/** A tensor with one handle cannot be. The program may have further handles. */
	private boolean isOfSeveral(Tensor gradient) {
		return gradient.use_count() > 1 && this.ofSeveral.test(TensorIdentity.identity(gradient));
	}

	private boolean hasLayout(Tensor gradient) {
		if (!Arrays.equals(this.sizes, gradient.shape())) {
			return false;
		}
		for (int dimension = 0; dimension < this.sizes.length; dimension++) {
			if (this.sizes[dimension] > 1 && this.strides[dimension] != gradient.stride(dimension)) {
				return false;
			}
		}
		return true;
	}

	/** Otherwise the ranks would sum memory of another size or type. */
	private void requireSameParameter() {
		Tensor tensor = this.parameter.tensor();
		String change = null;
		if (!Arrays.equals(this.sizes, tensor.shape())) {
			change = " had shape " + TensorMemory.joined(this.sizes) + " when it was wrapped";
		}
		else if (!TensorMemory.type(tensor).filter(this.type::equals).isPresent()) {
			change = " was " + this.type + " when it was wrapped and is "
					+ TensorMemory.type(tensor).map(DataType::toString).orElse(tensor.scalar_type().intern().name())
					+ " now";
		}
		else if (!ParameterPlacement.of(tensor).equals(this.place)) {
			change = " was on " + this.place + " when it was wrapped and is on " + ParameterPlacement.of(tensor)
					+ " now";
		}
		if (change != null) {
			throw new IllegalStateException(this.parameter + change
					+ ": close this DistributedDataParallel and wrap the model again, after such changes");
		}
	}

	/** Gives the parameter a gradient of its own with the right layout. */
	private Tensor copy(Tensor gradient) {
		requireSameParameter();
		try (NoGradGuard _ = new NoGradGuard(); TensorOptions options = this.parameter.tensor().options()) {
			Tensor copy = torch.empty_strided(this.sizes, this.strides, options);
			if (gradient.defined()) {
				copy.copy_(gradient);
			}
			else {
				copy.zero_();
			}
			this.parameter.tensor().mutable_grad().put(copy);
			return copy;
		}
	}

}
