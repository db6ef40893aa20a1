package io.tutti.launch;

import java.util.Map;

/**
 * Decides whether to show lines that are redrawn in place, such as a progress bar.
 */
public final class LiveLines {

	private static final int STANDARD_ERROR = 2;

	private LiveLines() {
	}

	/**
	 * Whether to show live lines on standard error: it is a terminal, or a pipe to
	 * Tutti's own launcher on a terminal.
	 * @param environment this process's environment variables
	 */
	public static boolean areShown(Map<String, String> environment) {
		return environment.containsKey(RankEnvironment.LIVE_LINES) || Terminal.is(STANDARD_ERROR);
	}

}
