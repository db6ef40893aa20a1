package io.tutti.launch;

import java.util.Map;

/**
 * Whether a line that is drawn again and again, such as a progress bar, comes before
 * somebody's eyes as such.
 */
public final class LiveLines {

	private static final int STANDARD_ERROR = 2;

	private LiveLines() {
	}

	/**
	 * Whether to draw one on standard error: it is a terminal, or the way to Tutti's own
	 * launcher on one.
	 * @param environment this process's environment variables
	 */
	public static boolean areShown(Map<String, String> environment) {
		return environment.containsKey(RankEnvironment.LIVE_LINES) || Terminal.is(STANDARD_ERROR);
	}

}
