package io.tutti.engine.spi;

/**
 * In which memory the buffers of a call are, which ranks must agree on: those in host
 * memory and those on a device are carried by different means and never meet.
 */
public enum MemoryKind {

	/** Host memory. */
	HOST("in host memory"),

	/** A device's. */
	DEVICE("on the device"),

	/** The call has yet to come to where it is looked at. */
	UNKNOWN("in memory not looked at yet");

	private final String words;

	MemoryKind(String words) {
		this.words = words;
	}

	/** Whether it is known to be another. */
	boolean differsFrom(MemoryKind other) {
		return this != other && this != UNKNOWN && other != UNKNOWN;
	}

	@Override
	public String toString() {
		return this.words;
	}

}
