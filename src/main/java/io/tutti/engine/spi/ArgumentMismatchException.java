package io.tutti.engine.spi;

import io.tutti.ExitCode;
import io.tutti.Failure;

/**
 * Ranks passed different arguments to a call that compares them before it does anything,
 * such as {@code allocate}. Thrown on every rank; the group stays usable.
 */
public final class ArgumentMismatchException extends IllegalArgumentException
		implements CallOrigin.Holder, ExitCode.Source, Failure.Origin {

	private static final long serialVersionUID = 1L;

	private final CallOrigin origin;

	/**
	 * @param origin names the ranks that differ
	 * @param problem what differs, with no full stop
	 */
	public ArgumentMismatchException(CallOrigin origin, String problem) {
		super(origin.start() + problem);
		this.origin = origin;
	}

	@Override
	public CallOrigin origin() {
		return this.origin;
	}

	@Override
	public int exitCode() {
		return ExitCode.MISMATCH;
	}

}
