package io.tutti.launch;

/**
 * What to do when two launchers' variables disagree about who this process is.
 */
public enum OnConflict {

	/** Follow the set of higher precedence and report the other. */
	WARN,
	/** Refuse to start. */
	FAIL

}
