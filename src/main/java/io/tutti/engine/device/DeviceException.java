package io.tutti.engine.device;

import io.tutti.Failure;
import org.jspecify.annotations.Nullable;

/**
 * A call of the GPU runtime failed.
 */
public final class DeviceException extends RuntimeException implements Failure.Origin {

	private static final long serialVersionUID = 1L;

	private final int code;

	private final String problem;

	private final int rank;

	private final int worldSize;

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
		super(((rank >= 0) ? "rank " + rank + ": " : "") + problem, cause);
		this.problem = problem;
		this.code = code;
		this.rank = rank;
		this.worldSize = worldSize;
	}

	/**
	 * The same failure with the rank whose call it is; this exception if it has one.
	 * @param rank the rank, from 0
	 * @param worldSize number of ranks
	 * @return the exception to throw
	 */
	public DeviceException onRank(int rank, int worldSize) {
		return (this.rank >= 0) ? this : new DeviceException(this.problem, this.code, rank, worldSize, this);
	}

	/** The rank, -1 if the failed call belongs to no group or communicator. */
	@Override
	public int rank() {
		return this.rank;
	}

	@Override
	public int worldSize() {
		return this.worldSize;
	}

	/**
	 * {@return the runtime's error code}
	 */
	public int code() {
		return this.code;
	}

}
