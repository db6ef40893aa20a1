package io.tutti.engine.backend.nccl;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.tutti.FreePort;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two ranks on one GPU, each a process with its own NCCL host id, which NCCL would
 * otherwise reject as a duplicate. Tests correctness, not speed.
 */
public final class GpuPair {

	private static final int LIMIT_SECONDS = 120;

	private final Path directory;

	private GpuPair(Path directory) {
		this.directory = directory;
	}

	/**
	 * Runs both ranks, prints their output and checks their exit codes.
	 * @param directory an empty folder for their output
	 * @param main takes the scenario, the rank and the port of the rendezvous
	 */
	public static void run(Path directory, Class<?> main, String scenario, int first, int second) throws Exception {
		new GpuPair(directory).run(main, scenario, first, second);
	}

	private void run(Class<?> main, String scenario, int first, int second) throws Exception {
		int port = FreePort.next();
		List<Process> ranks = new ArrayList<>();
		try {
			for (int rank = 0; rank < 2; rank++) {
				ranks.add(start(main, scenario, rank, port));
			}
			assertThat(exitCode(ranks.get(0))).as(() -> output(0)).isEqualTo(first);
			assertThat(exitCode(ranks.get(1))).as(() -> output(1)).isEqualTo(second);
		}
		finally {
			ranks.forEach(Process::destroyForcibly);
			System.out.print(output(0) + output(1));
		}
	}

	private Process start(Class<?> main, String scenario, int rank, int port) throws IOException {
		List<String> command = new ArrayList<>(
				List.of(ProcessHandle.current().info().command().orElse("java"), "--enable-native-access=ALL-UNNAMED",
						"--add-opens=java.base/sun.nio.ch=ALL-UNNAMED", "-cp", System.getProperty("java.class.path")));
		// Not the properties that the preparation of native libraries has set in this
		// JVM.
		command.addAll(1,
				ManagementFactory.getRuntimeMXBean()
					.getInputArguments()
					.stream()
					.filter((argument) -> argument.startsWith("-Dtutti.gpu.") || argument.startsWith("-Dorg.bytedeco."))
					.toList());
		command.addAll(List.of(main.getName(), scenario, String.valueOf(rank), String.valueOf(port)));
		ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true)
			.redirectOutput(file(rank).toFile());
		builder.environment().put("NCCL_HOSTID", "tutti-host-" + rank);
		builder.environment().put("NCCL_SOCKET_IFNAME", "lo");
		builder.environment().put("NCCL_IB_DISABLE", "1");
		builder.environment().put("NCCL_MULTI_RANK_GPU_ENABLE", "1");
		return builder.start();
	}

	private static int exitCode(Process rank) throws InterruptedException {
		return rank.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS) ? rank.exitValue() : -1;
	}

	private Path file(int rank) {
		return this.directory.resolve("rank-" + rank);
	}

	private String output(int rank) {
		try {
			return Files.exists(file(rank)) ? Files.readString(file(rank)) : "";
		}
		catch (IOException ex) {
			return ex.toString();
		}
	}

}
