package io.tutti.engine.bootstrap;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import com.sun.management.OperatingSystemMXBean;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.Timeouts;
import io.tutti.engine.control.Membership;
import io.tutti.engine.control.RecordedControlEvents;
import io.tutti.engine.control.RendezvousSettings;
import io.tutti.engine.spi.Deadline;

/**
 * Measures what the control plane of an idle group costs: rank 0 in one process, all
 * other ranks in another. Run by hand, twice: {@code ControlPlaneMeasurement 0 1024 PORT}
 * and {@code ControlPlaneMeasurement others 1024 PORT}.
 */
final class ControlPlaneMeasurement {

	private static final Duration MEASURED = Duration.ofSeconds(60);

	private ControlPlaneMeasurement() {
	}

	public static void main(String[] arguments) throws Exception {
		int worldSize = Integer.parseInt(arguments[1]);
		int port = Integer.parseInt(arguments[2]);
		boolean rankZero = "0".equals(arguments[0]);
		long start = System.nanoTime();
		List<Membership> members = join(rankZero ? List.of(0) : others(worldSize), worldSize, port);
		long joined = System.nanoTime();
		double cpuToJoin = cpuSeconds();
		Thread.sleep(Duration.ofSeconds(10));
		double before = cpuSeconds();
		long bytesBefore = loopbackBytes();
		Thread.sleep(MEASURED);
		double cpu = (cpuSeconds() - before) / MEASURED.toSeconds() / members.size();
		double bytes = (double) (loopbackBytes() - bytesBefore) / MEASURED.toSeconds();
		System.out.printf(Locale.ROOT,
				"%s of %d: joined after %.1f s with %.1f s of processor time; %.3f ms of processor time per second and rank; "
						+ "%.0f bytes/s of all ranks%n",
				rankZero ? "rank 0" : "other ranks", worldSize, (joined - start) / 1e9, cpuToJoin, cpu * 1e3, bytes);
		members.forEach((member) -> member.control().close());
	}

	private static List<Integer> others(int worldSize) {
		List<Integer> ranks = new ArrayList<>();
		for (int rank = 1; rank < worldSize; rank++) {
			ranks.add(rank);
		}
		return ranks;
	}

	private static List<Membership> join(List<Integer> ranks, int worldSize, int port) throws Exception {
		Timeouts timeouts = Timeouts.DEFAULTS;
		RendezvousSettings settings = new RendezvousSettings("measurement", null, -1, null, null, 1,
				timeouts.heartbeat(), timeouts.abort().dividedBy(2), "", null);
		List<Membership> members = new ArrayList<>();
		try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
			List<Future<Membership>> joining = new ArrayList<>();
			for (int rank : ranks) {
				RankAssignment assignment = RankAssignment.onOneHost(rank, worldSize, port);
				joining.add(threads.submit(() -> Rendezvous.join(assignment, settings, new RecordedControlEvents(),
						Deadline.after(timeouts.rendezvous()))));
			}
			for (Future<Membership> member : joining) {
				members.add(member.get());
			}
		}
		return members;
	}

	private static double cpuSeconds() {
		return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime() / 1e9;
	}

	private static long loopbackBytes() throws IOException {
		return Files.readAllLines(Path.of("/proc/net/dev"))
			.stream()
			.map(String::strip)
			.filter((line) -> line.startsWith("lo:"))
			.mapToLong((line) -> Long.parseLong(line.split("\\s+")[1]))
			.findFirst()
			.orElseThrow();
	}

}
