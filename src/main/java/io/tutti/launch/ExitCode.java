package io.tutti.launch;

/**
 * Exit codes of ranks. They are plain constants, since annotations of the command line
 * refer to them.
 */
public final class ExitCode {

	/** Done. */
	public static final int DONE = 0;

	/** The configuration is invalid. A restart would fail the same way. */
	public static final int BAD_CONFIGURATION = 64;

	/**
	 * The training data are malformed, or the loss diverged. A restart would fail the
	 * same way.
	 */
	public static final int BAD_DATA = 65;

	/** Internal error: a defect of Tutti. */
	public static final int INTERNAL = 70;

	/** The rendezvous or a collective timed out. */
	public static final int DEADLINE_PASSED = 75;

	/** A rank was lost. */
	public static final int PEER_LOST = 76;

	/** The token was wrong. */
	public static final int AUTHENTICATION_FAILED = 77;

	/** Ranks called different collectives, or trained different things. */
	public static final int MISMATCH = 78;

	/** Stopped on request, after a checkpoint if one is kept. */
	public static final int STOPPED_ON_REQUEST = 79;

	/** Aborted on request. */
	public static final int ABORTED = 80;

	/** Added to the number of a signal that ended a process. */
	static final int SIGNAL_BASE = 128;

	/** Exit code after SIGKILL. */
	static final int KILLED = SIGNAL_BASE + 9;

	private ExitCode() {
	}

}
