package io.tutti.engine.bootstrap;

import java.time.Duration;
import java.util.function.Consumer;

/**
 * Warns of refused clients, of which hostile ones can cause any number. Thread-safe.
 */
public final class RefusedClients {

	/** In each {@link #PERIOD_NANOS}. */
	private static final int MAX_WARNINGS = 20;

	private static final long PERIOD_NANOS = Duration.ofMinutes(1).toNanos();

	private final Consumer<String> warn;

	private int warnings;

	private long sinceNanos = System.nanoTime();

	/**
	 * @param warn logs a warning
	 */
	public RefusedClients(Consumer<String> warn) {
		this.warn = warn;
	}

	/** Warns of a client, unless there were many. */
	public synchronized void add(String client, String reason) {
		long now = System.nanoTime();
		if (now - this.sinceNanos > PERIOD_NANOS) {
			this.warnings = 0;
			this.sinceNanos = now;
		}
		if (this.warnings++ < MAX_WARNINGS) {
			this.warn.accept("refused " + client + ": " + reason);
			if (this.warnings == MAX_WARNINGS) {
				this.warn.accept("further refused clients are not reported for up to a minute");
			}
		}
	}

}
