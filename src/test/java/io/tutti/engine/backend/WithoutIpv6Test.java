package io.tutti.engine.backend;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

import io.tutti.CollectiveListener;
import io.tutti.FreePort;
import io.tutti.TestJvm;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.Timeouts;
import io.tutti.engine.algorithm.AlgorithmOverrides;
import io.tutti.engine.control.RendezvousException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/** Ranks with an IPv6 address in a JVM that has no IPv6. */
@Timeout(60)
class WithoutIpv6Test {

	@Test
	void anIpv6AddressIsNamedAsUnusable() throws Exception {
		Process process = new ProcessBuilder(
				TestJvm.command(List.of("-Djava.net.preferIPv4Stack=true"), Rank.class, FreePort.next()))
			.redirectErrorStream(true)
			.start();
		String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		assertThat(process.waitFor()).as(printed).isZero();
		assertThat(printed)
			.containsPattern("ADDRESS: .*cannot listen for data connections at 0:0:0:0:0:0:0:1, port 0: its JVM has no"
					+ " IPv6")
			.containsPattern("TIMEOUT: .*this rank cannot connect to 2001:db8:0:0:0:0:0:1: its JVM has no IPv6");
	}

	/**
	 * Listens at the loopback address of rank 0, then connects to one of another host.
	 */
	static final class Rank {

		private Rank() {
		}

		public static void main(String[] arguments) {
			for (String master : new String[] { "::1", "2001:db8::1" }) {
				IO.println(failure(new RankAssignment(1, 2, 1, 2, master, Integer.parseInt(arguments[0]))));
			}
		}

		private static String failure(RankAssignment assignment) {
			EngineSettings defaults = EngineSettings.DEFAULTS;
			Duration limit = Duration.ofMillis(500);
			EngineSettings settings = new EngineSettings(defaults.backend(), "job", null, -1, null, null, null, 0,
					defaults.congestionControl(), new SharedConfig(TransportChoice.TCP, AlgorithmOverrides.NONE),
					new Timeouts(limit, limit, limit, limit, limit), null);
			try {
				Engine.join(assignment, settings, CollectiveListener.NONE).close();
				return "joined";
			}
			catch (RendezvousException ex) {
				return ex.reason() + ": " + ex.getMessage();
			}
		}

	}

}
