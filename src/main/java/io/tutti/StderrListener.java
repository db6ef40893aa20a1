package io.tutti;

/**
 * For a program that listens to nothing: what an operator should see all the same. In a
 * group that forms as it should there is nothing to say.
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
