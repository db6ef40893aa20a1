package io.tutti.benchmark;

/**
 * Whose memory a benchmark's buffers are.
 */
public enum BufferKind {

	/** Memory of the caller's own, as users bring it. */
	PRIVATE("private"),
	/** Memory from {@link io.tutti.engine.ProcessGroup#allocate}. */
	ENGINE("engine");

	private final String label;

	BufferKind(String label) {
		this.label = label;
	}

	/** The name people type and read. */
	public String label() {
		return this.label;
	}

}
