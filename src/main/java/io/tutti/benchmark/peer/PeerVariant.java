package io.tutti.benchmark.peer;

import java.util.List;
import java.util.Map;

/**
 * One configuration of a peer. The fastest of several counts.
 *
 * @param name name of the transport and its settings, such as {@code shm-ucx}
 * @param launcher command before the peer's program
 * @param arguments arguments of the program, before those of the job
 * @param environment environment variables of this variant
 */
record PeerVariant(String name, List<String> launcher, List<String> arguments, Map<String, String> environment) {

	PeerVariant {
		launcher = List.copyOf(launcher);
		arguments = List.copyOf(arguments);
		environment = Map.copyOf(environment);
	}

}
