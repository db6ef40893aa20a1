package io.tutti.benchmark.peer;

import java.io.IOException;
import java.util.Map;

/**
 * Sets the congestion control of other programs' TCP connections by a preloaded library.
 */
final class CongestionControlShim {

	private static final String SYSTEM = "system";

	private CongestionControlShim() {
	}

	/**
	 * The variables of a program with that congestion control; none for {@code system}.
	 * @throws PeerUnavailableException if the library cannot be compiled
	 */
	static Map<String, String> environment(String congestionControl, PeerBuild build)
			throws PeerUnavailableException, IOException, InterruptedException {
		if (congestionControl.equals(SYSTEM)) {
			return Map.of();
		}
		return Map.of("LD_PRELOAD", build.build(PeerProgram.CONGESTION_CONTROL).toAbsolutePath().toString(), "BENCH_CC",
				congestionControl);
	}

}
