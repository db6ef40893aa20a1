package io.tutti.endtoend;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.tutti.DataType;
import io.tutti.FreePort;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.backend.mpi.Communicator;
import io.tutti.engine.backend.mpi.Mpi;
import io.tutti.launch.standalone.MpiEnvironment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Several processes over TCP although they are on one host, with the variables of
 * {@code torchrun} alone.
 */
@Timeout(60)
class ProcessesTest {

	@TempDir
	private Path folder;

	/** One rank: of the MPI API, or of a process group. */
	public static void main(String[] arguments) {
		String result = arguments[0].equals("mpi") ? broadcastFromRankOne() : allReduce();
		System.out.println(result + " " + socketPollers());
	}

	/**
	 * Threads for virtual threads that block in a socket. The JVM waits 300 ms for one at
	 * its exit.
	 */
	private static List<String> socketPollers() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.map(Thread::getName)
			.filter((name) -> name.endsWith("Poller"))
			.toList();
	}

	private static String allReduce() {
		try (ProcessGroup group = ProcessGroup.fromEnvironment()) {
			float[] values = new float[4];
			for (int i = 0; i < values.length; i++) {
				values[i] = (group.rank() == 0) ? i + 1 : 10 * (i + 1);
			}
			group.allReduce(values, ReduceOp.SUM);
			return group.transport() + " " + Arrays.toString(values);
		}
	}

	private static String broadcastFromRankOne() {
		try (Mpi mpi = MpiEnvironment.init()) {
			Communicator world = mpi.world();
			float[] values = new float[4];
			for (int i = 0; i < values.length; i++) {
				values[i] = 100 * world.rank() + i;
			}
			world.bcast(values, values.length, DataType.FLOAT32, 1);
			world.barrier();
			return world.group().backend() + " " + world.group().transport() + " " + Arrays.toString(values);
		}
	}

	@Test
	void twoRanksAllReduceFourFloatsOverTcp() throws Exception {
		requireOutputOfEveryRank(2, "group", "tcp [11.0, 22.0, 33.0, 44.0] []");
	}

	@Test
	void threeRanksOfTheMpiApiBroadcastFromRankOneAndCompleteABarrier() throws Exception {
		requireOutputOfEveryRank(3, "mpi", "mpi tcp [100.0, 101.0, 102.0, 103.0] []");
	}

	private void requireOutputOfEveryRank(int worldSize, String api, String expected) throws Exception {
		int port = FreePort.next();
		List<Process> ranks = new ArrayList<>();
		try {
			for (int rank = 0; rank < worldSize; rank++) {
				ranks.add(start(rank, worldSize, port, api));
			}
			for (int rank = 0; rank < worldSize; rank++) {
				assertThat(ranks.get(rank).waitFor(50, TimeUnit.SECONDS)).isTrue();
				assertThat(ranks.get(rank).exitValue()).as(Files.readString(this.folder.resolve("errors-" + rank)))
					.isZero();
				assertThat(Files.readString(output(rank))).isEqualTo(expected + "\n");
			}
		}
		finally {
			ranks.forEach(Process::destroyForcibly);
		}
	}

	private Process start(int rank, int worldSize, int port, String api) throws Exception {
		ProcessBuilder builder = new ProcessBuilder(System.getProperty("java.home") + "/bin/java",
				"--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path"),
				ProcessesTest.class.getName(), api);
		builder.environment().keySet().removeIf((name) -> name.startsWith("TUTTI_"));
		builder.environment()
			.putAll(Map.of("RANK", "" + rank, "WORLD_SIZE", "" + worldSize, "MASTER_ADDR", "127.0.0.1", "MASTER_PORT",
					"" + port, "TUTTI_TRANSPORT_KIND", "tcp", "TUTTI_TIMEOUT_RENDEZVOUS", "40s"));
		return builder.redirectOutput(output(rank).toFile())
			.redirectError(this.folder.resolve("errors-" + rank).toFile())
			.start();
	}

	private Path output(int rank) {
		return this.folder.resolve("output-" + rank);
	}

}
