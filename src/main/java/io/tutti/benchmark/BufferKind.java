package io.tutti.benchmark;

/**
 * Where the buffers of a benchmark are allocated.
 */
public enum BufferKind {

	/** Memory that the caller allocates. */
	PRIVATE,
	/** Memory from {@link io.tutti.ProcessGroup#allocate}. */
	ENGINE

}
