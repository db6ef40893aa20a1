package io.tutti.engine.spi;

/**
 * Memory kind of a call's buffers. Ranks must agree on it, since host and device buffers
 * use different transports.
 */
public enum MemoryKind {

	/** Host memory. */
	HOST("in host memory"),

	/** Device memory. */
	DEVICE("on the device"),

	/** No backend has inspected the buffers yet. */
	UNKNOWN("in memory not looked at yet");

	private final String words;

	MemoryKind(String words) {
		this.words = words;
	}

	/** Whether both kinds are known and differ. */
	boolean differsFrom(MemoryKind other) {
		return this != other && this != UNKNOWN && other != UNKNOWN;
	}

	@Override
	public String toString() {
		return this.words;
	}

}
