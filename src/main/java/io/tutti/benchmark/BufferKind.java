package io.tutti.benchmark;

/**
 * Where the buffers of a benchmark are allocated.
 */
public enum BufferKind {

	/** Memory that the caller allocates. */
	PRIVATE("private"),
	/** Memory from {@link io.tutti.ProcessGroup#allocate}. */
	ENGINE("engine");

	private final String label;

	BufferKind(String label) {
		this.label = label;
	}

	/** The name in options and output. */
	public String label() {
		return this.label;
	}

}
