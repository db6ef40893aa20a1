package io.tutti.endtoend;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Measures the collectives with 2, 4, 8 and 16 ranks, each on a host of its own: network
 * namespaces with limited bandwidth, and a switch with delay. Run by hand as root; writes
 * a table for each algorithm, which {@code src/bench/ScalingModel.java} reads.
 */
final class ScalingMeasurement {

	private static final int[] WORLDS = { 2, 4, 8, 16 };

	/** Long against the work of a step, with 16 processes on two cores. */
	private static final Duration DELAY = Duration.ofMillis(10);

	private static final String RATE = "40mbit";

	private static final Duration LIMIT = Duration.ofMinutes(8);

	private ScalingMeasurement() {
	}

	public static void main(String[] arguments) throws Exception {
		Path folder = Files.createDirectories(Path.of(arguments[0]));
		for (int ranks : WORLDS) {
			for (String line : measure(folder, ranks)) {
				Path table = folder.resolve(line.split("\t")[1] + ".tsv");
				Files.writeString(table, (Files.exists(table) ? Files.readString(table) : "") + line + "\n");
			}
			System.out.println(ranks + " ranks measured");
		}
	}

	private static List<String> measure(Path folder, int ranks) throws Exception {
		TestHosts hosts = new TestHosts(ranks);
		List<TuttiProcess> started = new ArrayList<>();
		try {
			hosts.limitBandwidth(RATE);
			hosts.network().disturb(DELAY, 0);
			for (int rank = 0; rank < ranks; rank++) {
				List<String> program = TuttiProcess.java();
				program.addAll(List.of("-Xmx160m", "-XX:TieredStopAtLevel=1", "-cp",
						System.getProperty("java.class.path"), ScalingRank.class.getName()));
				started.add(TuttiProcess.run(folder,
						Map.of("RANK", String.valueOf(rank), "WORLD_SIZE", String.valueOf(ranks), "LOCAL_RANK", "0",
								"LOCAL_WORLD_SIZE", "1", "MASTER_ADDR", TestHosts.address(0), "MASTER_PORT", "29500"),
						hosts.on(rank, program)));
			}
			if (started.getFirst().exitCode(LIMIT) != 0) {
				throw new IllegalStateException(
						started.stream().map(TuttiProcess::output).collect(Collectors.joining("\n")));
			}
			return started.getFirst().output().lines().filter((line) -> line.startsWith("tutti\t")).toList();
		}
		finally {
			started.forEach(TuttiProcess::close);
			hosts.close();
		}
	}

}
