package io.tutti.endtoend;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.tutti.FreePort;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two processes over TCP although they are on one host, with the variables of
 * {@code torchrun} alone.
 */
@Timeout(60)
class TwoProcessesTest {

	@TempDir
	private Path folder;

	/** One rank. */
	public static void main(String[] arguments) {
		try (ProcessGroup group = ProcessGroup.fromEnvironment()) {
			float[] values = new float[4];
			for (int i = 0; i < values.length; i++) {
				values[i] = (group.rank() == 0) ? i + 1 : 10 * (i + 1);
			}
			group.allReduce(values, ReduceOp.SUM);
			System.out.println(group.transport() + " " + Arrays.toString(values));
		}
	}

	@Test
	void twoRanksAllReduceFourFloatsOverTcp() throws Exception {
		int port = FreePort.next();
		List<Process> ranks = new ArrayList<>();
		for (int rank = 0; rank < 2; rank++) {
			ProcessBuilder builder = new ProcessBuilder(System.getProperty("java.home") + "/bin/java",
					"--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path"),
					TwoProcessesTest.class.getName());
			builder.environment().keySet().removeIf((name) -> name.startsWith("TUTTI_"));
			builder.environment()
				.putAll(Map.of("RANK", "" + rank, "WORLD_SIZE", "2", "MASTER_ADDR", "127.0.0.1", "MASTER_PORT",
						"" + port, "TUTTI_TRANSPORT_KIND", "tcp", "TUTTI_TIMEOUT_RENDEZVOUS", "40s"));
			ranks.add(builder.redirectOutput(output(rank).toFile())
				.redirectError(this.folder.resolve("errors-" + rank).toFile())
				.start());
		}
		try {
			for (int rank = 0; rank < 2; rank++) {
				assertThat(ranks.get(rank).waitFor(50, TimeUnit.SECONDS)).isTrue();
				assertThat(ranks.get(rank).exitValue()).as(Files.readString(this.folder.resolve("errors-" + rank)))
					.isZero();
				assertThat(Files.readString(output(rank))).isEqualTo("tcp [11.0, 22.0, 33.0, 44.0]\n");
			}
		}
		finally {
			ranks.forEach(Process::destroyForcibly);
		}
	}

	private Path output(int rank) {
		return this.folder.resolve("output-" + rank);
	}

}
