package io.tutti.engine.device;

/**
 * A GPU's runtime refused or failed a call.
 */
public final class DeviceException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final int code;

	/**
	 * @param call what was called, such as {@code cudaMalloc}
	 * @param code the runtime's number for what went wrong
	 * @param detail the runtime's words for it
	 */
	public DeviceException(String call, int code, String detail) {
		super(call + " failed: " + detail + " (" + code + ")");
		this.code = code;
	}

	/** The runtime's number for what went wrong. */
	public int code() {
		return this.code;
	}

}
