package io.tutti.engine.dispatch;

import io.tutti.ProcessGroup;

/**
 * Finds the line of the application that calls the engine.
 */
final class CallSite {

	private static final String ENGINE = CallSite.class.getPackageName();

	/** Its default methods call themselves in another form. */
	private static final String API = ProcessGroup.class.getName();

	private static final StackWalker WALKER = StackWalker.getInstance();

	private CallSite() {
	}

	/**
	 * The first caller outside the engine, such as {@code Training.step:42}; empty for a
	 * call on the worker thread.
	 */
	static String current() {
		return WALKER.walk(
				(frames) -> frames
					.filter((frame) -> !frame.getClassName().startsWith(ENGINE) && !frame.getClassName().equals(API)
							&& !frame.getClassName().startsWith("java"))
					.findFirst()
					.map(CallSite::text)
					.orElse(""));
	}

	private static String text(StackWalker.StackFrame frame) {
		String type = frame.getClassName();
		return type.substring(type.lastIndexOf('.') + 1) + "." + frame.getMethodName() + ":" + frame.getLineNumber();
	}

}
