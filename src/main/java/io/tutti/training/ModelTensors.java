package io.tutti.training;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;

import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.pytorch.JitModule;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.NamedTensor;
import org.bytedeco.pytorch.StringTensorDict;
import org.bytedeco.pytorch.StringVector;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.named_buffer_iterator;
import org.bytedeco.pytorch.named_buffer_list;
import org.bytedeco.pytorch.named_parameter_iterator;
import org.bytedeco.pytorch.named_parameter_list;

/**
 * The tensors of a model by name: of a {@code Module}, of a TorchScript model, or of any
 * other program. A tensor may have several names.
 *
 * @param parameters the trained and frozen parameters, in an order that is the same on
 * every rank
 * @param buffers other state that the replicas share, such as the running statistics of
 * batch normalization
 */
public record ModelTensors(SequencedMap<String, Tensor> parameters, SequencedMap<String, Tensor> buffers) {

	/** Copies the maps and keeps their order. */
	public ModelTensors {
		parameters = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(parameters));
		buffers = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(buffers));
	}

	/**
	 * Parameters without buffers. Those of a map without a fixed order, which may differ
	 * between processes, are ordered by name.
	 * @param parameters parameters by name
	 * @return its tensors by name
	 */
	public static ModelTensors of(Map<String, Tensor> parameters) {
		return new ModelTensors(
				(parameters instanceof SequencedMap<String, Tensor> ordered) ? ordered : new TreeMap<>(parameters),
				new LinkedHashMap<>());
	}

	/**
	 * The parameters and buffers of a module and its children.
	 * @param module the model; the caller keeps ownership
	 * @return its tensors by name
	 */
	public static ModelTensors of(Module module) {
		return new ModelTensors(named(module.named_parameters()), named(module.named_buffers()));
	}

	/**
	 * The parameters and buffers of a TorchScript model, as {@code torch.load} reads it.
	 * @param module the model; the caller keeps ownership
	 * @return its tensors by name
	 */
	public static ModelTensors of(JitModule module) {
		SequencedMap<String, Tensor> parameters = new LinkedHashMap<>();
		try (named_parameter_list list = module.named_parameters();
				named_parameter_iterator at = list.begin();
				named_parameter_iterator end = list.end()) {
			for (; at.notEquals(end); at.increment()) {
				add(parameters, at.multiply());
			}
		}
		SequencedMap<String, Tensor> buffers = new LinkedHashMap<>();
		try (named_buffer_list list = module.named_buffers();
				named_buffer_iterator at = list.begin();
				named_buffer_iterator end = list.end()) {
			for (; at.notEquals(end); at.increment()) {
				add(buffers, at.multiply());
			}
		}
		return new ModelTensors(parameters, buffers);
	}

	/** A dictionary's tensors, as handles that do not depend on the dictionary. */
	private static SequencedMap<String, Tensor> named(StringTensorDict dictionary) {
		SequencedMap<String, Tensor> named = new LinkedHashMap<>();
		try (dictionary; StringVector names = dictionary.keys(); TensorVector values = dictionary.values()) {
			for (long index = 0; index < values.size(); index++) {
				try (BytePointer name = names.get(index)) {
					named.put(name.getString(), new Tensor(values.get(index)));
				}
			}
		}
		return named;
	}

	private static void add(Map<String, Tensor> named, NamedTensor entry) {
		try (entry; BytePointer name = entry.name()) {
			named.put(name.getString(), new Tensor(entry.value()));
		}
	}

}
