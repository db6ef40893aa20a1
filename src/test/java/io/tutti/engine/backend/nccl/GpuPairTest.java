package io.tutti.engine.backend.nccl;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.tutti.FreePort;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two ranks on one GPU, each a process with its own NCCL host id. Tests correctness, not
 * speed.
 */
@Tag("gpu")
@Timeout(180)
class GpuPairTest {

	@TempDir
	Path directory;

	@ParameterizedTest
	@CsvSource({ "collectives, 0, 0", "absent, 0, 0", "killed, 0, 9", "mismatch, 0, 0" })
	void bothRanksExitWithTheExpectedCode(String scenario, int first, int second) throws Exception {
		Gpu.require();
		int port = FreePort.next();
		List<Process> ranks = new ArrayList<>();
		try {
			for (int rank = 0; rank < 2; rank++) {
				ranks.add(start(scenario, rank, port));
			}
			assertThat(exitCode(ranks.get(0))).as(output(0)).isEqualTo(first);
			assertThat(exitCode(ranks.get(1))).as(output(1)).isEqualTo(second);
		}
		finally {
			ranks.forEach(Process::destroyForcibly);
			System.out.print(output(0) + output(1));
		}
	}

	private Process start(String scenario, int rank, int port) throws IOException {
		List<String> command = new ArrayList<>(
				List.of(ProcessHandle.current().info().command().orElse("java"), "--enable-native-access=ALL-UNNAMED",
						"--add-opens=java.base/sun.nio.ch=ALL-UNNAMED", "-cp", System.getProperty("java.class.path")));
		for (String name : List.of("tutti.gpu.nccl", "tutti.gpu.cudart", "tutti.gpu.driver")) {
			String value = System.getProperty(name);
			if (value != null) {
				command.add(1, "-D" + name + "=" + value);
			}
		}
		command.addAll(List.of(GpuRank.class.getName(), scenario, String.valueOf(rank), String.valueOf(port)));
		ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true)
			.redirectOutput(this.directory.resolve("rank-" + rank).toFile());
		builder.environment().put("NCCL_HOSTID", "tutti-host-" + rank);
		builder.environment().put("NCCL_SOCKET_IFNAME", "lo");
		builder.environment().put("NCCL_IB_DISABLE", "1");
		builder.environment().put("NCCL_MULTI_RANK_GPU_ENABLE", "1");
		return builder.start();
	}

	private static int exitCode(Process rank) throws InterruptedException {
		return rank.waitFor(120, TimeUnit.SECONDS) ? rank.exitValue() : -1;
	}

	private String output(int rank) throws IOException {
		Path file = this.directory.resolve("rank-" + rank);
		return Files.exists(file) ? Files.readString(file) : "";
	}

}
