package io.tutti.training.checkpoint;

import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

import io.tutti.ProcessGroup;
import io.tutti.training.internal.TextGather;

/**
 * The named values that determine a job's parameters. All ranks of a job and its
 * checkpoint must agree in all of them.
 *
 * @param values the names and values, such as {@code seed 1}
 */
public record JobFingerprint(List<Value> values) {

	/**
	 * A name and its value.
	 *
	 * @param name name of the value
	 * @param value its text
	 */
	public record Value(String name, String value) {

		@Override
		public String toString() {
			return this.name + " " + this.value;
		}

	}

	/**
	 * Copies the list.
	 * @throws IllegalArgumentException if two values have one name
	 */
	public JobFingerprint {
		values = List.copyOf(values);
		if (values.stream().map(Value::name).distinct().count() < values.size()) {
			throw new IllegalArgumentException(
					"two values of a job have the same name, so a task's identity must use another one: " + values);
		}
	}

	/**
	 * A copy with one more value.
	 * @param name its name
	 * @param value its value
	 * @return a copy with one more value
	 */
	public JobFingerprint with(String name, Object value) {
		List<Value> more = new ArrayList<>(this.values);
		more.add(new Value(name, value.toString()));
		return new JobFingerprint(more);
	}

	/**
	 * The values that are not the same in another fingerprint, or that only one of them
	 * has.
	 * @param other the fingerprint to compare with
	 * @return their names
	 */
	public Stream<String> differences(JobFingerprint other) {
		return Stream.concat(missingIn(other), other.missingIn(this)).distinct();
	}

	/**
	 * How the jobs of the ranks differ from that of one rank. A collective call.
	 * @param group the ranks, each of which calls this on the fingerprint of its own job
	 * @param reference the rank with whose job the others are compared
	 * @return the first difference of each rank whose job differs, by rank, as in
	 * {@code has seed 2, but rank 0 has seed 1}
	 */
	public SortedMap<Integer, String> differencesByRank(ProcessGroup group, int reference) {
		List<JobFingerprint> all = TextGather.allGather(group, SafetensorsFormat.MAPPER.writeValueAsString(this))
			.stream()
			.map((text) -> SafetensorsFormat.MAPPER.readValue(text, JobFingerprint.class))
			.toList();
		JobFingerprint job = all.get(reference);
		SortedMap<Integer, String> differences = new TreeMap<>();
		for (int rank = 0; rank < all.size(); rank++) {
			int other = rank;
			JobFingerprint its = all.get(rank);
			job.differences(its)
				.findFirst()
				.ifPresent((name) -> differences.put(other,
						"has " + its.describe(name) + ", but rank " + reference + " has " + job.describe(name)));
		}
		return differences;
	}

	private Stream<String> missingIn(JobFingerprint other) {
		return this.values.stream().filter((value) -> !other.values.contains(value)).map(Value::name);
	}

	/**
	 * Name and value for messages.
	 * @param name name of a value
	 * @return both, or that there is no such value
	 */
	public String describe(String name) {
		return this.values.stream()
			.filter((value) -> value.name().equals(name))
			.map(Value::toString)
			.findFirst()
			.orElse("no " + name);
	}

}
