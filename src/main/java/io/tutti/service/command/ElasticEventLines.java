package io.tutti.service.command;

import java.util.Locale;

import io.tutti.ElasticEvent;

/**
 * Prints the events of an elastic group to stderr, one line each.
 */
final class ElasticEventLines {

	private ElasticEventLines() {
	}

	static void print(ElasticEvent event) {
		System.err.println("tutti: " + line(event));
	}

	static String line(ElasticEvent event) {
		return switch (event) {
			case ElasticEvent.Lost lost -> broken(lost) + ": " + lost.failure().detail();
			case ElasticEvent.Awaiting awaiting -> "waiting for ranks " + awaiting.slots();
			case ElasticEvent.Formed formed -> String.format(Locale.ROOT, "generation %d: ranks %s after %.3f s",
					formed.generation(), formed.slots(), formed.after().toNanos() / 1e9);
			case ElasticEvent.Synchronized taken -> "generation " + taken.generation() + ": ranks " + taken.receivers()
					+ " took the state of rank " + taken.source() + " after step " + taken.step();
		};
	}

	/** A rank that only does not answer is not known to be lost. */
	private static String broken(ElasticEvent.Lost event) {
		return event.slots().isEmpty() ? "generation " + event.generation() + " broke"
				: "lost ranks " + event.slots() + " of generation " + event.generation();
	}

}
