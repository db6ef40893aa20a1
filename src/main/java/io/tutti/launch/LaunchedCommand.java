package io.tutti.launch;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * What each rank runs, and how its end is to be taken.
 *
 * @param words the whole command line
 * @param kind what it is
 * @param plainOutput whether rank 0's standard output is for a machine and passes as it
 * is
 */
public record LaunchedCommand(List<String> words, Kind kind, boolean plainOutput) {

	private static final Set<String> JOBS = Set.of("train", "bench", "env", "rehearse");

	private static final String SERVE = "serve";

	/** The script that runs this program, as other launchers are given it. */
	private static final String OWN_SCRIPT = "tutti";

	private static final Set<String> MACHINE_FORMATS = Set.of("tsv", "json");

	/**
	 * Bad configuration, diverged loss, authentication failed, stopped and aborted on
	 * request: the same would happen again, or nobody wants it again.
	 */
	private static final Set<Integer> NOT_MENDED_BY_A_RESTART = Set.of(ExitCode.BAD_CONFIGURATION, ExitCode.DIVERGED,
			ExitCode.AUTHENTICATION_FAILED, ExitCode.STOPPED_ON_REQUEST, ExitCode.ABORTED);

	/** What is launched. */
	public enum Kind {

		/** Our service: runs until it is stopped, and outlives its peers. */
		SERVICE,
		/** Our own words that run to their end. */
		JOB,
		/** Any other program. */
		PROGRAM

	}

	public LaunchedCommand {
		words = List.copyOf(words);
	}

	/**
	 * The command that a user typed: one of Tutti's own words and its options, with its
	 * script before them or without, or any program.
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

	/** Without a word, or with options alone, a rank serves. */
	private static LaunchedCommand ownCommand(List<String> typed, TuttiProgram own) {
		boolean hasWord = !typed.isEmpty() && !typed.getFirst().startsWith("-");
		return of(hasWord ? typed : Stream.concat(Stream.of(SERVE), typed.stream()).toList(), own);
	}

	private static Kind kindOf(String word) {
		if (word.equals(SERVE)) {
			return Kind.SERVICE;
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

	/** Whether the others go on when one rank is lost. */
	boolean outlivesPeers() {
		return this.kind == Kind.SERVICE;
	}

	/** Whether starting the group again may help after such an end. */
	boolean restartHelps(RankExit failure) {
		return this.kind == Kind.PROGRAM || !NOT_MENDED_BY_A_RESTART.contains(failure.exitCode());
	}

	/** How long ranks may take to end when the launcher is told to stop. */
	Duration stopLimit(LaunchTimings timings) {
		return (this.kind == Kind.SERVICE) ? timings.serveStop() : timings.drain();
	}

	/** How long the others may take to end by themselves after a rank has. */
	Duration leaveLimit(RankExit failure, LaunchTimings timings) {
		return stoppedOnRequest(failure) ? timings.drain() : timings.leave();
	}

	/** Whether a rank ended as it was asked to, which is no failure to speak of. */
	boolean stoppedOnRequest(RankExit end) {
		return this.kind != Kind.PROGRAM && end.exitCode() == ExitCode.STOPPED_ON_REQUEST;
	}

}
