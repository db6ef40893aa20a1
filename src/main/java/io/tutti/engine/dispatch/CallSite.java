package io.tutti.engine.dispatch;

import java.util.List;

import io.tutti.ProcessGroup;

/**
 * Finds the line of the application that calls the engine.
 */
final class CallSite {

	/**
	 * Code between an application and a group: the packages of Tutti that applications
	 * call, the default methods of the API, the JDK and libtorch, which calls hooks.
	 */
	private static final List<String> BETWEEN = List.of("io.tutti.engine.", "io.tutti.training.",
			ProcessGroup.class.getName(), "java", "org.bytedeco.");

	private static final StackWalker WALKER = StackWalker.getInstance();

	private CallSite() {
	}

	/**
	 * The first caller that is an application's, such as {@code Training.step:42}; empty
	 * for a call on the worker thread.
	 */
	static String current() {
		return WALKER
			.walk((frames) -> frames.filter((frame) -> BETWEEN.stream().noneMatch(frame.getClassName()::startsWith))
				.findFirst()
				.map(CallSite::text)
				.orElse(""));
	}

	private static String text(StackWalker.StackFrame frame) {
		String type = frame.getClassName();
		return type.substring(type.lastIndexOf('.') + 1) + "." + frame.getMethodName() + ":" + frame.getLineNumber();
	}

}
