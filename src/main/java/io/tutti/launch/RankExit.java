package io.tutti.launch;

import java.util.Set;

import io.tutti.ExitCode;

/**
 * The exit of a rank, and what its code means for the others and for a restart.
 *
 * @param rank the rank
 * @param exitCode its exit code, 128 + signal if a signal ended it
 */
record RankExit(int rank, int exitCode) {

	/** Added to the number of a signal that ended a process. */
	static final int SIGNAL_BASE = 128;

	/** Greater exit codes are a program's own, such as 255 of {@code exit(-1)}. */
	private static final int LAST_SIGNAL = 64;

	boolean failed() {
		return this.exitCode != ExitCode.DONE;
	}

	/** Whether a signal ended the rank. */
	boolean signalled() {
		return this.exitCode > SIGNAL_BASE && this.exitCode <= SIGNAL_BASE + LAST_SIGNAL;
	}

	/**
	 * Whether SIGINT or SIGTERM itself ended the rank, as one that was still starting
	 * when it was asked to stop.
	 */
	boolean endedByStopSignal() {
		return this.exitCode == SIGNAL_BASE + 2 || this.exitCode == SIGNAL_BASE + 15;
	}

	/**
	 * Whether the code is that of a rank that could not start, so that the others may
	 * wait in vain for it to join.
	 */
	boolean failedToStart() {
		return this.exitCode == ExitCode.BAD_CONFIGURATION || this.exitCode == ExitCode.AUTHENTICATION_FAILED;
	}

	/**
	 * Whether a restart of the group may help after this failure. Programs on the library
	 * use the same codes, and 64, 65 and 77 mean the same in others (BSD's sysexits).
	 */
	boolean restartMayHelp() {
		return !ExitCode.isPermanent(this.exitCode);
	}

	/**
	 * Whether a restart of this rank alone may help. After a mismatch it would join with
	 * the same difference, whereas a restart of the whole group may remove it.
	 */
	boolean restartOfOneMayHelp() {
		return restartMayHelp() && this.exitCode != ExitCode.MISMATCH;
	}

	/**
	 * Whether this exit explains the earlier exit of another rank: an aborted rank
	 * follows any other failure, and a rank that lost a peer follows one that is not a
	 * stop. Programs on the library use the same codes.
	 */
	boolean causes(RankExit earlier) {
		return switch (earlier.exitCode) {
			case ExitCode.ABORTED -> this.exitCode != ExitCode.ABORTED;
			case ExitCode.PEER_LOST ->
				!Set.of(ExitCode.PEER_LOST, ExitCode.ABORTED, ExitCode.STOPPED_ON_REQUEST).contains(this.exitCode);
			default -> false;
		};
	}

	/** As in {@code rank 1 ended with 137 (SIGKILL)}. */
	String describe() {
		return "rank " + this.rank + " ended with " + code();
	}

	/** As in {@code rank 1 137 (SIGKILL)}. */
	String brief() {
		return "rank " + this.rank + " " + code();
	}

	private String code() {
		String signal = switch (this.exitCode - SIGNAL_BASE) {
			case 1 -> "SIGHUP";
			case 2 -> "SIGINT";
			case 3 -> "SIGQUIT";
			case 4 -> "SIGILL";
			case 6 -> "SIGABRT";
			case 7 -> "SIGBUS";
			case 8 -> "SIGFPE";
			case 9 -> "SIGKILL";
			case 11 -> "SIGSEGV";
			case 13 -> "SIGPIPE";
			case 15 -> "SIGTERM";
			default -> "";
		};
		return this.exitCode + (signal.isEmpty() ? "" : " (" + signal + ")");
	}

}
