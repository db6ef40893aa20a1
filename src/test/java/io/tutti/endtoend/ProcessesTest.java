package io.tutti.endtoend;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.tutti.DataType;
import io.tutti.FreePort;
import io.tutti.GroupAbortedException;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.TestJvm;
import io.tutti.engine.backend.mpi.Communicator;
import io.tutti.engine.backend.mpi.Mpi;
import io.tutti.launch.standalone.MpiEnvironment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Several processes on one host, most of them over TCP, with the variables of
 * {@code torchrun} alone.
 */
@Timeout(60)
class ProcessesTest {

	@TempDir
	private Path folder;

	/** One rank: of the MPI API, or of a process group. */
	public static void main(String[] arguments) throws Exception {
		String result = switch (arguments[0]) {
			case "mpi" -> broadcastFromRankOne();
			case "split" -> splitWithoutDescriptors();
			default -> allReduce();
		};
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

	/** Rank 1 keeps one descriptor, with which it can load classes. */
	private static String splitWithoutDescriptors() throws Exception {
		try (ProcessGroup group = ProcessGroup.fromEnvironment()) {
			group.split(0, 0).close();
			List<FileInputStream> held = new ArrayList<>();
			String outcome = "formed";
			try {
				while (group.rank() == 1) {
					held.add(new FileInputStream("/dev/null"));
				}
			}
			catch (IOException ex) {
				held.removeLast().close();
			}
			try (ProcessGroup _ = group.split(0, 0)) {
				group.barrier();
			}
			catch (UncheckedIOException | GroupAbortedException ex) {
				outcome = ex.getMessage().replaceAll(".*(Too many open files).*", "$1");
			}
			for (FileInputStream file : held) {
				file.close();
			}
			long[] sum = { 1 };
			group.allReduce(sum, ReduceOp.SUM);
			return group.transport() + " " + outcome + " " + sum[0];
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

	@Test
	void aRankThatCannotFormAGroupTellsTheOthersWhyAndTheGroupContinues() throws Exception {
		requireOutputOfEveryRank(2, "split", "shm Too many open files 2 []");
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
		List<String> command = new ArrayList<>(List.of("sh", "-c", "ulimit -n 300; exec \"$@\"", "sh"));
		command.addAll(TestJvm.command(List.of("-XX:-MaxFDLimit"), ProcessesTest.class, api));
		ProcessBuilder builder = new ProcessBuilder(command);
		builder.environment().keySet().removeIf((name) -> name.startsWith("TUTTI_"));
		builder.environment()
			.putAll(Map.of("RANK", "" + rank, "WORLD_SIZE", "" + worldSize, "MASTER_ADDR", "127.0.0.1", "MASTER_PORT",
					"" + port, "TUTTI_TRANSPORT_KIND", api.equals("split") ? "auto" : "tcp", "TUTTI_TIMEOUT_RENDEZVOUS",
					"40s", "TUTTI_TIMEOUT_COLLECTIVE", "20s"));
		return builder.redirectOutput(output(rank).toFile())
			.redirectError(this.folder.resolve("errors-" + rank).toFile())
			.start();
	}

	private Path output(int rank) {
		return this.folder.resolve("output-" + rank);
	}

}
