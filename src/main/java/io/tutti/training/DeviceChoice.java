package io.tutti.training;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * On what a training job is asked to compute.
 *
 * @param kind main memory, a GPU, or whichever there is
 * @param index which GPU; {@link #BY_LOCAL_RANK} where none is named
 */
public record DeviceChoice(Kind kind, int index) {

	/** No GPU is named: each rank of a host takes the one of its local rank. */
	public static final int BY_LOCAL_RANK = -1;

	/** More digits than any host has GPUs, and an {@code int} all the same. */
	private static final Pattern NAMED = Pattern.compile("cuda:(\\d{1,4})");

	/** What to compute on. */
	public enum Kind {

		/** A GPU if the group and libtorch both reach one, else the CPU. */
		AUTO,
		/** The CPU. */
		CPU,
		/** A GPU or nothing. */
		CUDA

	}

	/**
	 * What a text asks for.
	 * @throws IllegalArgumentException if it is none of {@code auto}, {@code cpu},
	 * {@code cuda} and {@code cuda:n}
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

	/** The text that {@link #parse} reads. */
	@Override
	public String toString() {
		return switch (this.kind) {
			case AUTO -> "auto";
			case CPU -> "cpu";
			case CUDA -> (this.index == BY_LOCAL_RANK) ? "cuda" : "cuda:" + this.index;
		};
	}

}
