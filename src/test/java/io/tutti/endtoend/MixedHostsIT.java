package io.tutti.endtoend;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import io.tutti.FreePort;
import io.tutti.benchmark.BenchmarkReport;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two launchers with separate shared memory, as on two hosts: each runs in a mount
 * namespace with a /dev/shm of its own.
 */
@Timeout(180)
class MixedHostsIT {

	private static final Duration LIMIT = Duration.ofSeconds(120);

	private static final List<String> ON_A_HOST_OF_ITS_OWN = withSharedMemory("256m");

	@TempDir
	Path directory;

	@Test
	void ranksShareMemoryInsideAHostAndUseTcpBetweenHosts() throws Exception {
		Assumptions.assumeTrue(namespacesCanBeMade(), "mount namespaces need root and unshare");
		int port = FreePort.next();
		try (TuttiProcess first = node(0, port); TuttiProcess second = node(1, port)) {
			assertThat(first.exitCode(LIMIT)).as(first.output()).isZero();
			assertThat(second.exitCode(LIMIT)).as(second.output()).isZero();
			List<String> lines = first.output().lines().filter((line) -> line.contains("\t")).toList();
			assertThat(lines.getFirst()).isEqualTo(BenchmarkReport.TSV.header());
			List<String[]> rows = lines.stream().skip(1).map((line) -> line.split("\t")).toList();
			assertThat(rows.stream().map((row) -> row[2])).contains("allreduce", "broadcast", "alltoall", "barrier",
					"sendreceive");
			assertThat(rows).allSatisfy((row) -> assertThat(row).hasSize(11)
				.startsWith("tutti", "shm+tcp")
				.contains("4")
				.endsWith("5", "0"));
		}
	}

	@Test
	void requiredSharedMemoryWithTooLittleSpaceIsRefused() throws Exception {
		Assumptions.assumeTrue(namespacesCanBeMade(), "mount namespaces need root and unshare");
		try (TuttiProcess job = TuttiProcess.startWithin(withSharedMemory("1m"), this.directory, TuttiProcess.SCALAR,
				"launch", "-n", "2", "bench", "--transport", "shm", "--iterations", "1")) {
			assertThat(job.exitCode(LIMIT)).as(job.output()).isEqualTo(64);
			assertThat(job.output())
				.contains("[0] tutti: rank 0: ", "[1] tutti: rank 1: ",
						"the ranks of group world do not all share memory",
						"Free memory in /dev/shm (the log has the reason), or set tutti.transport.kind to auto",
						"shared memory needs")
				.doesNotContain("internal error");
		}
	}

	private static List<String> withSharedMemory(String size) {
		return List.of("unshare", "--mount", "sh", "-c",
				"mount -t tmpfs -o size=" + size + " tmpfs /dev/shm && exec \"$@\"", "sh");
	}

	private TuttiProcess node(int node, int port) throws Exception {
		return TuttiProcess.startWithin(ON_A_HOST_OF_ITS_OWN, this.directory, TuttiProcess.SCALAR, "launch", "-n", "2",
				"--nnodes", "2", "--node-rank", String.valueOf(node), "--master-addr", "127.0.0.1", "--master-port",
				String.valueOf(port), "bench", "--collective", "all", "--max-bytes", "128KB", "--factor", "4096",
				"--iterations", "5", "--format", "tsv");
	}

	private static boolean namespacesCanBeMade() throws Exception {
		try {
			return new ProcessBuilder("unshare", "--mount", "true").start().waitFor() == 0;
		}
		catch (IOException ex) {
			return false;
		}
	}

}
