package io.tutti.benchmark.peer;

import java.util.List;
import java.util.Map;

/**
 * One way to run a peer; of several, the fastest counts.
 *
 * @param name what carries the data and how, such as {@code shm-ucx}
 * @param launcher the words before the peer's program
 * @param arguments the words after it, before those of the job
 * @param environment variables that make the difference
 */
record PeerVariant(String name, List<String> launcher, List<String> arguments, Map<String, String> environment) {

	PeerVariant {
		launcher = List.copyOf(launcher);
		arguments = List.copyOf(arguments);
		environment = Map.copyOf(environment);
	}

}
