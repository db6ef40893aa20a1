package io.tutti;

/**
 * Prints notes and warnings to standard error, for a program without its own listener.
 * Prints nothing for a group that forms without problems.
 */
final class StderrListener implements CollectiveListener {

	@Override
	public void note(String message) {
		System.err.println("tutti: " + message);
	}

	@Override
	public void warn(String message) {
		note(message);
	}

}
