package io.tutti.engine.device;

import io.tutti.engine.spi.RankException;
import org.jspecify.annotations.Nullable;

/**
 * A call of the GPU runtime failed. The rank is -1 if the call belongs to no group or
 * communicator.
 */
public final class DeviceException extends RankException {

	private static final long serialVersionUID = 1L;

	private final int code;

	/**
	 * Creates the exception for a failed call.
	 * @param call the failed call, such as {@code cudaMalloc}
	 * @param code the runtime's error code
	 * @param detail the runtime's error text
	 */
	public DeviceException(String call, int code, String detail) {
		this(call + " failed: " + detail + " (" + code + ")", code, -1, -1, null);
	}

	private DeviceException(String problem, int code, int rank, int worldSize, @Nullable Throwable cause) {
		super(rank, worldSize, problem, cause);
		this.code = code;
	}

	/**
	 * The same failure with the rank whose call it is; this exception if it has one.
	 * @param rank the rank, from 0
	 * @param worldSize number of ranks
	 * @return the exception to throw
	 */
	public DeviceException onRank(int rank, int worldSize) {
		return (rank() >= 0) ? this : new DeviceException(problem(), this.code, rank, worldSize, this);
	}

	/**
	 * {@return the runtime's error code}
	 */
	public int code() {
		return this.code;
	}

}
