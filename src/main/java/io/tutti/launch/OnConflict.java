package io.tutti.launch;

/**
 * How to treat variables of two launchers that disagree about this process's rank.
 */
public enum OnConflict {

	/** Follow the set of higher precedence and report the other. */
	WARN,
	/** Refuse to start. */
	FAIL

}
