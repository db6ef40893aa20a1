package io.tutti.training;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The device that a training job is asked to use.
 *
 * @param kind CPU, GPU or automatic
 * @param index index of the GPU; {@link #BY_LOCAL_RANK} if none is named
 */
public record DeviceChoice(Kind kind, int index) {

	/** No GPU is named: each rank uses the GPU of its local rank. */
	public static final int BY_LOCAL_RANK = -1;

	/** Four digits are enough for the GPUs of any host and fit into an {@code int}. */
	private static final Pattern NAMED = Pattern.compile("cuda:(\\d{1,4})");

	/** Kind of device. */
	public enum Kind {

		/** A GPU if both the group's backend and libtorch can use one, else the CPU. */
		AUTO,
		/** The CPU. */
		CPU,
		/** A GPU; an error if there is none. */
		CUDA

	}

	/**
	 * Parses {@code auto}, {@code cpu}, {@code cuda} or {@code cuda:n}.
	 * @param text {@code auto}, {@code cpu}, {@code cuda} or {@code cuda:N}
	 * @return the choice
	 * @throws IllegalArgumentException if the text is none of these
	 */
	public static DeviceChoice parse(String text) {
		return switch (text) {
			case "auto" -> new DeviceChoice(Kind.AUTO, BY_LOCAL_RANK);
			case "cpu" -> new DeviceChoice(Kind.CPU, BY_LOCAL_RANK);
			case "cuda" -> new DeviceChoice(Kind.CUDA, BY_LOCAL_RANK);
			default -> new DeviceChoice(Kind.CUDA, named(text));
		};
	}

	private static int named(String text) {
		Matcher matcher = NAMED.matcher(text);
		if (!matcher.matches()) {
			throw new IllegalArgumentException("device must be auto, cpu, cuda or cuda:n, got " + text);
		}
		return Integer.parseInt(matcher.group(1));
	}

	/** The text form that {@link #parse} accepts. */
	@Override
	public String toString() {
		return switch (this.kind) {
			case AUTO -> "auto";
			case CPU -> "cpu";
			case CUDA -> (this.index == BY_LOCAL_RANK) ? "cuda" : "cuda:" + this.index;
		};
	}

}
