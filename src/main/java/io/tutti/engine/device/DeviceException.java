package io.tutti.engine.device;

/**
 * A call of the GPU runtime failed.
 */
public final class DeviceException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final int code;

	/**
	 * @param call the failed call, such as {@code cudaMalloc}
	 * @param code the runtime's error code
	 * @param detail the runtime's error text
	 */
	public DeviceException(String call, int code, String detail) {
		super(call + " failed: " + detail + " (" + code + ")");
		this.code = code;
	}

	/** The runtime's error code. */
	public int code() {
		return this.code;
	}

}
