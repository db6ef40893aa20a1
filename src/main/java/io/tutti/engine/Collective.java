package io.tutti.engine;

/**
 * The operations that every rank of a group calls together.
 */
public enum Collective {

	/** Every rank gets the reduction of all ranks' buffers. */
	ALL_REDUCE("all-reduce"),
	/** Every rank gets the root's buffer. */
	BROADCAST("broadcast"),
	/** Every rank gets all ranks' buffers, in rank order. */
	ALL_GATHER("all-gather"),
	/** Nobody leaves before everybody has come. */
	BARRIER("barrier");

	private static final Collective[] VALUES = values();

	private final String label;

	Collective(String label) {
		this.label = label;
	}

	/** The name people type and read, such as {@code all-reduce}. */
	public String label() {
		return this.label;
	}

	/**
	 * The collective with an ordinal that came over the wire.
	 * @throws IllegalArgumentException if no collective has that ordinal
	 */
	public static Collective ofOrdinal(int ordinal) {
		if (ordinal < 0 || ordinal >= VALUES.length) {
			throw new IllegalArgumentException(
					"collective ordinal must be in 0.." + (VALUES.length - 1) + ", got " + ordinal);
		}
		return VALUES[ordinal];
	}

	@Override
	public String toString() {
		return this.label;
	}

}
