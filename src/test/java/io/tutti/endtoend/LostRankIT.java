package io.tutti.endtoend;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.tutti.FreePort;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A job whose rank is killed or suspended, and a rendezvous that receives garbage from
 * other clients.
 */
@Order(5)
@Timeout(240)
class LostRankIT {

	private static final Duration LIMIT = Duration.ofSeconds(120);

	@TempDir
	Path directory;

	/** The others learn of it by its connection: no heartbeat times out in this test. */
	@Test
	void aKilledRankEndsTheOthersByNameAndTheLauncherWithItsCode() throws Exception {
		try (TuttiProcess launch = TuttiProcess.start(this.directory, "launch", "-n", "3", "train", "--epochs", "5000",
				"--tutti.timeout.heartbeat=1h")) {
			ProcessHandle lost = launch.rank(1, LIMIT);
			launch.awaitLine("epoch +1/5000", LIMIT);
			List<ProcessHandle> all = launch.descendants();
			TuttiProcess.signal(lost, "KILL");
			assertThat(launch.exitCode(Duration.ofSeconds(20))).as(launch.output()).isEqualTo(137);
			assertThat(launch.output()).containsPattern("rank 1 lost.*connection")
				.containsPattern("rank 0.*76")
				.containsPattern("rank 2.*76");
			assertThat(all).noneMatch(ProcessHandle::isAlive);
		}
	}

	@Test
	void aStoppedRankFailsTheOthersAfterTheHeartbeatAndIsEndedToo() throws Exception {
		try (TuttiProcess launch = TuttiProcess.start(this.directory, "launch", "-n", "2", "train", "--epochs", "5000",
				"--tutti.timeout.heartbeat=3s", "--tutti.timeout.abort=2s")) {
			ProcessHandle stopped = launch.rank(1, LIMIT);
			launch.awaitLine("epoch +1/5000", LIMIT);
			List<ProcessHandle> all = launch.descendants();
			TuttiProcess.signal(stopped, "STOP");
			assertThat(launch.exitCode(Duration.ofSeconds(30))).as(launch.output()).isEqualTo(76);
			assertThat(launch.output()).contains("rank 1 lost");
			Awaitility.await()
				.atMost(Duration.ofSeconds(30))
				.until(() -> all.stream().noneMatch(ProcessHandle::isAlive));
		}
	}

	@Test
	void aStoppedRankFailsTheOthersAtTheCollectiveDeadlineWhereThatComesFirst() throws Exception {
		try (TuttiProcess launch = TuttiProcess.start(this.directory, "launch", "-n", "2", "train", "--epochs", "5000",
				"--tutti.timeout.collective=5s")) {
			ProcessHandle stopped = launch.rank(1, LIMIT);
			launch.awaitLine("epoch +1/5000", LIMIT);
			TuttiProcess.signal(stopped, "STOP");
			assertThat(launch.exitCode(Duration.ofSeconds(30))).as(launch.output()).isEqualTo(75);
			assertThat(launch.output()).contains("waiting for rank 1");
		}
	}

	/**
	 * The signal is sent when the rank has mapped the shared memory: the rendezvous is
	 * over, and the group is still forming.
	 */
	@Test
	void aRankThatIsStoppedWhileTheGroupFormsEndsTheOtherLongBeforeItsDeadline() throws Exception {
		String port = String.valueOf(FreePort.next());
		try (TuttiProcess other = TuttiProcess.start(this.directory, rank(0, port), "train", "--epochs", "5000");
				TuttiProcess stopped = TuttiProcess.start(this.directory, rank(1, port), "train", "--epochs", "5000")) {
			Awaitility.await("the memory that the ranks share")
				.atMost(LIMIT)
				.pollInterval(Duration.ofMillis(1))
				.until(() -> hasMappedSharedMemory(stopped.handle()));
			stopped.handle().destroy();
			assertThat(stopped.exitCode(LIMIT)).as(stopped.output()).isEqualTo(79);
			assertThat(other.exitCode(LIMIT)).as(other.output()).isIn(76, 79, 80);
			assertThat(other.output()).contains("rank 1");
		}
	}

	private static Map<String, String> rank(int rank, String port) {
		return Map.of("RANK", String.valueOf(rank), "WORLD_SIZE", "2", "LOCAL_RANK", String.valueOf(rank),
				"LOCAL_WORLD_SIZE", "2", "MASTER_ADDR", "127.0.0.1", "MASTER_PORT", port);
	}

	private static boolean hasMappedSharedMemory(ProcessHandle process) throws IOException {
		return Files.readString(Path.of("/proc", String.valueOf(process.pid()), "maps")).contains("/dev/shm/tutti-");
	}

	@Test
	void garbageAtTheMeetingPointHarmsNobody() throws Exception {
		String port = String.valueOf(FreePort.next());
		Map<String, String> first = Map.of("RANK", "0", "WORLD_SIZE", "2", "MASTER_ADDR", "127.0.0.1", "MASTER_PORT",
				port);
		Map<String, String> second = Map.of("RANK", "1", "WORLD_SIZE", "2", "MASTER_ADDR", "127.0.0.1", "MASTER_PORT",
				port);
		try (TuttiProcess master = TuttiProcess.start(this.directory, first, "train", "--epochs", "1")) {
			Awaitility.await().atMost(LIMIT).ignoreExceptions().until(() -> throwGarbage(Integer.parseInt(port)));
			try (TuttiProcess other = TuttiProcess.start(this.directory, second, "train", "--epochs", "1")) {
				assertThat(master.exitCode(LIMIT)).as(master.output()).isZero();
				assertThat(other.exitCode(LIMIT)).as(other.output()).isZero();
			}
		}
	}

	private static boolean throwGarbage(int port) throws Exception {
		for (String garbage : List.of("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "\0\0\0\0\0",
				"\u7fff".repeat(5000))) {
			try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
				socket.getOutputStream().write(garbage.getBytes(java.nio.charset.StandardCharsets.UTF_8));
				socket.getOutputStream().flush();
			}
		}
		return true;
	}

}
