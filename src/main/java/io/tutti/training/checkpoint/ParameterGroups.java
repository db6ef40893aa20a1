package io.tutti.training.checkpoint;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;

import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * The parameter groups of an optimizer's state: options such as
 * {@code optimizer.group.0.lr}, and the group of each parameter as
 * {@code optimizer.group_of.<parameter>}. By the latter, an optimizer with other groups,
 * such as one that is divided among other ranks, gives each parameter its options.
 */
final class ParameterGroups {

	private static final String OPTION = OptimizerTensors.PREFIX + "group.";

	private static final String GROUP_OF = OptimizerTensors.PREFIX + "group_of.";

	private static final ValueLayout.OfLong NUMBER = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

	private final SortedMap<Integer, Map<String, Tensor>> options = new TreeMap<>();

	private final Map<String, Integer> groupOf = new HashMap<>();

	/** Takes the groups out of the tensors of a state. */
	ParameterGroups(Map<String, Tensor> state) {
		for (String name : List.copyOf(state.keySet())) {
			if (isOption(name)) {
				this.options.computeIfAbsent(group(name), (_) -> new LinkedHashMap<>())
					.put(option(name), state.remove(name));
			}
			else if (name.startsWith(GROUP_OF)) {
				this.groupOf.put(name.substring(GROUP_OF.length()), (int) state.remove(name).item_long());
			}
		}
	}

	/** Name of an option. */
	static String option(int group, String key) {
		return OPTION + group + "." + key;
	}

	/** Name of the group's number of a parameter. */
	static String groupOf(String parameter) {
		return GROUP_OF + parameter;
	}

	/** Whether a tensor is part of a group, not of a parameter's state. */
	static boolean isPart(TensorHeader header) {
		return isOption(header.name()) || header.name().startsWith(GROUP_OF);
	}

	static boolean isOption(String name) {
		return name.startsWith(OPTION);
	}

	private static int group(String name) {
		return Integer.parseInt(name.substring(OPTION.length(), name.indexOf('.', OPTION.length())));
	}

	private static String option(String name) {
		return name.substring(name.indexOf('.', OPTION.length()) + 1);
	}

	/**
	 * The options of a group of an optimizer that takes the state.
	 * @param parameters names of its parameters
	 * @return the options; {@code null}, to keep those of the optimizer, if the state has
	 * none of the parameters, for example because all were frozen
	 * @throws IllegalArgumentException if the state has different options for two of the
	 * parameters
	 */
	@Nullable Map<String, Tensor> options(List<String> parameters) {
		List<String> known = parameters.stream().filter(this.groupOf::containsKey).toList();
		if (known.isEmpty()) {
			return null;
		}
		Map<String, Tensor> common = of(known.getFirst());
		for (String parameter : known) {
			if (!isSame(common, of(parameter))) {
				throw new IllegalArgumentException("the options of " + parameter + " differ from those of "
						+ known.getFirst() + ", which is in the same group of this job's optimizer");
			}
		}
		return common;
	}

	private Map<String, Tensor> of(String parameter) {
		return this.options.getOrDefault(this.groupOf.get(parameter), Map.of());
	}

	private static boolean isSame(Map<String, Tensor> left, Map<String, Tensor> right) {
		return left == right || (left.keySet().equals(right.keySet())
				&& left.keySet().stream().allMatch((key) -> left.get(key).equal(right.get(key))));
	}

	/**
	 * The state of a whole optimizer from its parts, whose groups get common numbers.
	 * Groups of two parts with equal options become one.
	 */
	static List<StoredTensor> joined(List<List<StoredTensor>> parts) {
		List<StoredTensor> joined = new ArrayList<>();
		List<Map<String, StoredTensor>> groups = new ArrayList<>();
		for (List<StoredTensor> part : parts) {
			Map<Integer, Integer> numbers = new HashMap<>();
			byGroup(part).forEach((number, own) -> numbers.put(number, number(own, groups, numbers.values())));
			for (StoredTensor tensor : part) {
				if (!isPart(tensor.header())) {
					joined.add(tensor);
				}
				else if (!isOption(tensor.header().name())) {
					int number = Math.toIntExact(tensor.data().get(NUMBER, 0));
					joined.add(OptimizerTensors.number(tensor.header().name(),
							Objects.requireNonNull(numbers.get(number))));
				}
			}
		}
		for (int index = 0; index < groups.size(); index++) {
			for (Map.Entry<String, StoredTensor> option : groups.get(index).entrySet()) {
				StoredTensor tensor = option.getValue();
				joined.add(new StoredTensor(new TensorHeader(option(index, option.getKey()), tensor.header().type(),
						tensor.header().shape()), tensor.data()));
			}
		}
		return joined;
	}

	private static SortedMap<Integer, Map<String, StoredTensor>> byGroup(List<StoredTensor> part) {
		SortedMap<Integer, Map<String, StoredTensor>> groups = new TreeMap<>();
		part.stream()
			.filter((tensor) -> isOption(tensor.header().name()))
			.forEach((tensor) -> groups.computeIfAbsent(group(tensor.header().name()), (_) -> new LinkedHashMap<>())
				.put(option(tensor.header().name()), tensor));
		return groups;
	}

	/** Number of an equal group that the part does not yet use, or of a new one. */
	private static int number(Map<String, StoredTensor> own, List<Map<String, StoredTensor>> groups,
			Collection<Integer> used) {
		for (int index = 0; index < groups.size(); index++) {
			if (!used.contains(index) && isEqual(own, groups.get(index))) {
				return index;
			}
		}
		groups.add(own);
		return groups.size() - 1;
	}

	private static boolean isEqual(Map<String, StoredTensor> left, Map<String, StoredTensor> right) {
		return left.keySet().equals(right.keySet()) && left.keySet().stream().allMatch((key) -> {
			StoredTensor one = left.get(key);
			StoredTensor other = right.get(key);
			return one.header().type() == other.header().type() && one.header().shape().equals(other.header().shape())
					&& one.data().mismatch(other.data()) == -1;
		});
	}

}
