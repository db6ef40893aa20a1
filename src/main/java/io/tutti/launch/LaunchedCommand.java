package io.tutti.launch;

import io.tutti.ExitCode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The command that each rank runs, and how the launcher treats its exit.
 *
 * @param words the whole command line
 * @param kind kind of command
 * @param plainOutput whether rank 0's standard output is machine-readable and passes
 * unchanged
 */
public record LaunchedCommand(List<String> words, Kind kind, boolean plainOutput) {

	private static final String SERVE = "serve";

	private static final String TRAIN = "train";

	private static final Set<String> JOBS = Set.of("bench", "env", "rehearse");

	/** Name of the script that runs Tutti, as given to other launchers. */
	private static final String OWN_SCRIPT = "tutti";

	private static final Set<String> MACHINE_FORMATS = Set.of("tsv", "json");

	/** Kind of a launched command. */
	public enum Kind {

		/** Tutti's service: runs until it is stopped, also after the loss of a peer. */
		SERVICE,
		/** Tutti's training: runs to completion, in an elastic job without lost ranks. */
		TRAINING,
		/** Tutti's other commands, which run to completion. */
		JOB,
		/** Any other program. */
		PROGRAM

	}

	public LaunchedCommand {
		words = List.copyOf(words);
	}

	/**
	 * The command that a user typed: any program, or one of Tutti's commands and its
	 * options, with or without Tutti's script before it.
	 * @throws IllegalArgumentException if nothing was typed
	 */
	public static LaunchedCommand of(List<String> typed, TuttiProgram own) {
		if (typed.isEmpty()) {
			throw new IllegalArgumentException("nothing to launch: give a command such as train, serve or bench");
		}
		if (Path.of(typed.getFirst()).endsWith(OWN_SCRIPT)) {
			return ownCommand(typed.subList(1, typed.size()), own);
		}
		Kind kind = kindOf(typed.getFirst());
		List<String> words = new ArrayList<>();
		if (kind != Kind.PROGRAM) {
			words.addAll(own.words());
		}
		words.addAll(typed);
		return new LaunchedCommand(words, kind, hasMachineFormat(typed));
	}

	/** Without a command, or with options only, a rank runs {@code serve}. */
	private static LaunchedCommand ownCommand(List<String> typed, TuttiProgram own) {
		boolean hasWord = !typed.isEmpty() && !typed.getFirst().startsWith("-");
		return of(hasWord ? typed : Stream.concat(Stream.of(SERVE), typed.stream()).toList(), own);
	}

	private static Kind kindOf(String word) {
		if (word.equals(SERVE)) {
			return Kind.SERVICE;
		}
		if (word.equals(TRAIN)) {
			return Kind.TRAINING;
		}
		return JOBS.contains(word) ? Kind.JOB : Kind.PROGRAM;
	}

	private static boolean hasMachineFormat(List<String> typed) {
		for (int i = 1; i < typed.size(); i++) {
			String word = typed.get(i);
			if (word.startsWith("--format=") && MACHINE_FORMATS.contains(word.substring("--format=".length()))) {
				return true;
			}
			if (word.equals("--format") && i + 1 < typed.size() && MACHINE_FORMATS.contains(typed.get(i + 1))) {
				return true;
			}
		}
		return false;
	}

	/** Whether the ranks run until they are stopped, also after the loss of a peer. */
	boolean isService() {
		return this.kind == Kind.SERVICE;
	}

	/** Whether the ranks of an elastic job can continue after the loss of a peer. */
	public boolean canContinue() {
		return this.kind != Kind.JOB;
	}

	/** Whether a rank has ended before it joined, so that the others wait in vain. */
	boolean failedToStart(RankExit failure) {
		return failure.exitCode() == ExitCode.BAD_CONFIGURATION || failure.exitCode() == ExitCode.AUTHENTICATION_FAILED;
	}

	/**
	 * Whether a restart of the group may help after this failure. Programs on the library
	 * use the same codes, and 64, 65 and 77 mean the same in others (BSD's sysexits).
	 */
	boolean restartMayHelp(RankExit failure) {
		return !ExitCode.isPermanent(failure.exitCode());
	}

	/**
	 * Whether a restart of this rank alone may help. After a mismatch it would join with
	 * the same difference, whereas a restart of the whole group may remove it.
	 */
	boolean restartOfOneMayHelp(RankExit failure) {
		return restartMayHelp(failure) && failure.exitCode() != ExitCode.MISMATCH;
	}

	/** How long ranks may take to end when the launcher is asked to stop. */
	Duration stopLimit(LaunchTimings timings) {
		return isService() ? timings.serveStop() : timings.drain();
	}

	/**
	 * How long the other ranks may take to end by themselves after a rank has failed.
	 * They do not learn of a rank that failed to start, but may fail for the same reason.
	 */
	Duration exitLimit(RankExit failure, LaunchTimings timings) {
		if (stoppedOnRequest(failure)) {
			return timings.drain();
		}
		return failedToStart(failure) ? timings.leave().dividedBy(2) : timings.leave();
	}

	/**
	 * Whether a rank's exit explains the earlier exit of another rank: an aborted rank
	 * follows any other failure, and a rank that lost a peer follows one that is not a
	 * stop. Programs on the library use the same codes.
	 */
	boolean causes(RankExit end, RankExit earlier) {
		return switch (earlier.exitCode()) {
			case ExitCode.ABORTED -> end.exitCode() != ExitCode.ABORTED;
			case ExitCode.PEER_LOST ->
				!Set.of(ExitCode.PEER_LOST, ExitCode.ABORTED, ExitCode.STOPPED_ON_REQUEST).contains(end.exitCode());
			default -> false;
		};
	}

	/** Whether a rank stopped on request, which does not count as a failure. */
	boolean stoppedOnRequest(RankExit end) {
		return this.kind != Kind.PROGRAM && end.exitCode() == ExitCode.STOPPED_ON_REQUEST;
	}

}
