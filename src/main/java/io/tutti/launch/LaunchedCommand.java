package io.tutti.launch;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import io.tutti.ExitCode;

/**
 * The command that each rank runs.
 *
 * @param words the whole command line
 * @param kind kind of command
 * @param plainOutput whether rank 0's standard output is machine-readable and passes
 * unchanged
 */
public record LaunchedCommand(List<String> words, Kind kind, boolean plainOutput) {

	private static final String SERVE = "serve";

	private static final String TRAIN = "train";

	private static final String ENV = "env";

	private static final Set<String> JOBS = Set.of("bench", ENV, "rehearse");

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
		return of(typed, startsProgram(typed) ? Kind.PROGRAM : kindOf(typed.getFirst()), own);
	}

	/** Tutti's {@code env} has options only; the system's starts a program. */
	private static boolean startsProgram(List<String> typed) {
		return typed.size() > 1 && typed.getFirst().equals(ENV) && !typed.get(1).startsWith("-");
	}

	private static LaunchedCommand of(List<String> typed, Kind kind, TuttiProgram own) {
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
		List<String> words = hasWord ? typed : Stream.concat(Stream.of(SERVE), typed.stream()).toList();
		return of(words, kindOf(words.getFirst()), own);
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

	/**
	 * Whether one pipe for standard output and standard error keeps the lines whole. A
	 * program or a task may write lines in parts.
	 */
	boolean mayShareOnePipe() {
		return this.kind != Kind.PROGRAM && !this.plainOutput
				&& this.words.stream().noneMatch((word) -> word.equals("--task") || word.startsWith("--task="));
	}

	/** Whether the ranks of an elastic job can continue after the loss of a peer. */
	public boolean canContinue() {
		return this.kind != Kind.JOB;
	}

	/** Whether a rank stopped on request, which does not count as a failure. */
	boolean stoppedOnRequest(RankExit end) {
		return this.kind != Kind.PROGRAM && end.exitCode() == ExitCode.STOPPED_ON_REQUEST;
	}

}
