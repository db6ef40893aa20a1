package io.tutti.engine.rendezvous;

/**
 * Warnings that strangers can cause, and so must not be able to flood a log with.
 */
final class LimitedWarnings {

	private static final int LIMIT = 20;

	private final ControlEvents events;

	private int given;

	LimitedWarnings(ControlEvents events) {
		this.events = events;
	}

	void warn(String message) {
		if (this.given++ < LIMIT) {
			this.events.warn(message);
			if (this.given == LIMIT) {
				this.events.warn("further callers that are turned away are not reported");
			}
		}
	}

}
