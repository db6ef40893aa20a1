package io.tutti;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

/**
 * Exit codes of ranks, by which a launcher or Kubernetes decides whether to restart them.
 * They are plain constants, since annotations of the command line refer to them.
 */
public final class ExitCode {

	/** Done. */
	public static final int DONE = 0;

	/** The configuration is invalid. A restart would fail the same way. */
	public static final int BAD_CONFIGURATION = 64;

	/** The data is bad or the loss diverged. A restart would fail the same way. */
	public static final int BAD_DATA = 65;

	/**
	 * An exception with no exit code of its own or of a cause: a defect of the program,
	 * such as a wrong argument or a call on a closed group, or of Tutti.
	 */
	public static final int INTERNAL = 70;

	/** The rendezvous or a collective timed out. */
	public static final int DEADLINE_PASSED = 75;

	/** Another rank was lost, or could not continue. */
	public static final int PEER_LOST = 76;

	/** The token was wrong. */
	public static final int AUTHENTICATION_FAILED = 77;

	/** Ranks called different collectives, or trained different things. */
	public static final int MISMATCH = 78;

	/** Stopped on request, after a checkpoint if one is kept and the time sufficed. */
	public static final int STOPPED_ON_REQUEST = 79;

	/**
	 * Aborted on request, or by a rank that failed for a reason that a restart does not
	 * remove.
	 */
	public static final int ABORTED = 80;

	/**
	 * An exception with an exit code of its own.
	 */
	public interface Source {

		/**
		 * The exit code of a process that ends with this exception.
		 * @return the exit code of a process that ends with this exception
		 */
		int exitCode();

	}

	private ExitCode() {
	}

	/**
	 * The exit code for an exception: that of the exception itself or of the first of its
	 * causes that has one, otherwise {@link #INTERNAL}. Ends also for causes that form a
	 * cycle.
	 * @param failure what happened
	 * @return the exit code
	 */
	public static int of(Throwable failure) {
		Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
		for (Throwable cause = failure; cause != null && seen.add(cause); cause = cause.getCause()) {
			if (cause instanceof Source source) {
				return source.exitCode();
			}
		}
		return INTERNAL;
	}

	/**
	 * Whether a restart would fail the same way, or is not wanted.
	 * @param code an exit code
	 * @return whether a restart would fail the same way, or is not wanted
	 */
	public static boolean isPermanent(int code) {
		return switch (code) {
			case BAD_CONFIGURATION, BAD_DATA, AUTHENTICATION_FAILED, STOPPED_ON_REQUEST, ABORTED -> true;
			default -> false;
		};
	}

	/**
	 * The exit code for the ranks that a failed rank aborts.
	 * @param failure what happened on the failed rank
	 * @return {@link #ABORTED} if it is permanent, otherwise {@link #PEER_LOST}
	 */
	public static int ofOthers(Throwable failure) {
		return isPermanent(of(failure)) ? ABORTED : PEER_LOST;
	}

	/**
	 * Makes every uncaught exception of any thread print its stack trace and end the
	 * process with its exit code. Meant as the first line of a program's {@code main}.
	 * Without it, the JVM ends with 1 after an exception in {@code main}, and a launcher
	 * restarts what can never succeed. While the JVM shuts down already, the exception is
	 * only printed.
	 */
	public static void onUncaughtException() {
		Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
			try {
				failure.printStackTrace();
			}
			finally {
				exit(of(failure));
			}
		});
	}

	/** An exit from a shutdown hook would wait for that hook forever. */
	private static void exit(int code) {
		try {
			Runtime.getRuntime().removeShutdownHook(Thread.currentThread());
		}
		catch (IllegalStateException shuttingDown) {
			return;
		}
		System.exit(code);
	}

}
