package io.tutti.engine.dispatch;

import java.util.List;

import io.tutti.ProcessGroup;

/**
 * Finds the line of the application that calls the engine.
 */
final class CallSite {

	/** The engine, the default methods of the API, the JDK, and libtorch's hooks. */
	private static final List<String> ENGINE = List.of("io.tutti.engine.", ProcessGroup.class.getName(), "java.",
			"javax.", "jdk.", "org.bytedeco.");

	private static final String TRAINING = "io.tutti.training.";

	private static final String COMMANDS = "io.tutti.service.";

	private static final StackWalker WALKER = StackWalker.getInstance();

	private CallSite() {
	}

	/**
	 * The first caller that is an application's, such as {@code Training.step:42}. In a
	 * command of Tutti, the line of the training; empty on a thread of the engine.
	 */
	static String current() {
		List<StackWalker.StackFrame> callers = WALKER
			.walk((frames) -> frames.filter((frame) -> ENGINE.stream().noneMatch(frame.getClassName()::startsWith))
				.toList());
		return callers.stream()
			.filter((frame) -> !frame.getClassName().startsWith(TRAINING))
			.findFirst()
			.filter((frame) -> !frame.getClassName().startsWith(COMMANDS))
			.or(() -> callers.stream().findFirst())
			.map(CallSite::text)
			.orElse("");
	}

	private static String text(StackWalker.StackFrame frame) {
		String type = frame.getClassName();
		return type.substring(type.lastIndexOf('.') + 1) + "." + frame.getMethodName() + ":" + frame.getLineNumber();
	}

}
