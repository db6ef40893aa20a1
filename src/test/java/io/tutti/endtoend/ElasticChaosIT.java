package io.tutti.endtoend;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.tutti.ExitCode;
import io.tutti.engine.elastic.ElasticJob;
import io.tutti.training.BatchSchedule;
import io.tutti.training.checkpoint.CheckpointFixture;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opentest4j.TestAbortedException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A training job of which a random rank, rank 0 included, is killed, stopped or cut from
 * the network again and again, with replacements. It ends with the parameters of an
 * undisturbed job. Only the highest rank is never chosen: it takes part in every
 * generation, and its memory, threads and open files must not grow.
 * <p>
 * System properties: {@code tutti.chaos.seconds} how long ranks are disturbed (10, but at
 * least one fault of each kind), {@code tutti.chaos.period} seconds between two faults
 * (5), {@code tutti.chaos.faults} the kinds of faults (all but {@code SEPARATED}), and
 * {@code tutti.chaos.seed}. Without network namespaces there are no partitions.
 */
@Order(5)
class ElasticChaosIT {

	private static final int RANKS = 4;

	private static final int WITNESS = RANKS - 1;

	private static final int SAMPLES = 1437;

	private static final long PAUSE_MILLIS = 10;

	private static final Duration LIMIT = Duration.ofSeconds(90);

	/** What happens to a rank. */
	private enum Fault {

		KILLED, STOPPED, PARTITIONED,

		/** Does not reach one other rank. */
		SEPARATED

	}

	/** The time from a fault to the next step of the others. */
	private record Recovery(Fault fault, int slot, long millis) {
	}

	/** What the witness uses. */
	private record Usage(long residentKilobytes, long threads, long files) {
	}

	private final long seconds = Long.getLong("tutti.chaos.seconds", 10);

	private final long period = Long.getLong("tutti.chaos.period", 5);

	private final long seed = Long.getLong("tutti.chaos.seed", System.nanoTime() & 0xffffff);

	private final List<Fault> faults = Arrays
		.stream(System.getProperty("tutti.chaos.faults", "KILLED,STOPPED,PARTITIONED").split(","))
		.map(Fault::valueOf)
		.toList();

	private final Random random = new Random(this.seed);

	private final List<Recovery> recoveries = new ArrayList<>();

	private final List<Usage> usages = new ArrayList<>();

	/** Process ids of all ranks, by which segments are named. */
	private final List<Long> pids = new ArrayList<>();

	@TempDir
	private Path folder;

	@Test
	void aDisturbedJobEndsWithTheParametersOfAnUndisturbedOne() throws Exception {
		System.out.println("chaos: -Dtutti.chaos.seed=" + this.seed);
		TestHosts hosts = hosts();
		String[] done;
		try (ElasticJob job = job(hosts)) {
			for (int slot = 0; slot < RANKS; slot++) {
				start(job, slot);
			}
			disturb(job, hosts);
			done = end(job);
			requireNothingLeft((hosts != null) ? hosts.memories() : List.of(Path.of("/dev/shm")));
		}
		finally {
			if (hosts != null) {
				hosts.close();
			}
		}
		long steps = Long.parseLong(done[1]);
		assertThat(distance(undisturbed(steps), parameters("checkpoints"))).isLessThan(1e-3);
		long lost = requireEachSampleOnce(steps);
		report(steps, Long.parseLong(done[3]), lost);
		requireFlatUsage();
	}

	private static TestHosts hosts() throws Exception {
		try {
			TestHosts.assumePossible();
			return new TestHosts(RANKS);
		}
		catch (TestAbortedException ex) {
			System.out.println("chaos: no partitions: " + ex.getMessage());
			return null;
		}
	}

	private ElasticJob job(TestHosts hosts) {
		ElasticJob job = new ElasticJob(this.folder, RANKS, RANKS, program(this.folder, Long.MAX_VALUE, PAUSE_MILLIS))
			.with("TUTTI_TIMEOUT_HEARTBEAT", "3s");
		if (hosts == null) {
			return job;
		}
		return job.on(hosts::on)
			.with("MASTER_ADDR", TestHosts.address(0))
			.with("MASTER_PORT", "29500")
			.with("TUTTI_SECURITY_TOKEN", "a token")
			.with("TUTTI_ELASTIC_ENDPOINTS",
					IntStream.range(0, RANKS)
						.mapToObj((host) -> TestHosts.address(host) + ":29600")
						.collect(Collectors.joining(",")));
	}

	private static List<String> program(Path folder, long lastStep, long pauseMillis) {
		return List.of("--add-opens", "java.base/sun.nio.ch=ALL-UNNAMED", "-Xmx96m", ChaosRank.class.getName(),
				folder.toString(), "" + lastStep, "" + pauseMillis);
	}

	private void start(ElasticJob job, int slot) throws IOException {
		job.start(slot);
		this.pids.add(job.process(slot).pid());
	}

	private void disturb(ElasticJob job, TestHosts hosts) throws Exception {
		List<Fault> kinds = this.faults.stream()
			.filter((fault) -> hosts != null || fault == Fault.KILLED || fault == Fault.STOPPED)
			.toList();
		List<Fault> first = new ArrayList<>(kinds);
		Collections.shuffle(first, this.random);
		job.await("all ranks", LIMIT, () -> isComplete(job));
		long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(this.seconds);
		for (int number = 0; System.nanoTime() < end || number < kinds.size(); number++) {
			long next = System.nanoTime() + TimeUnit.SECONDS.toNanos(this.period);
			Fault fault = (number < kinds.size()) ? first.get(number) : kinds.get(this.random.nextInt(kinds.size()));
			int slot = (number == 0) ? 0 : this.random.nextInt(WITNESS);
			Thread.sleep(this.random.nextInt(100));
			inflict(job, hosts, fault, slot);
			job.await("all ranks after slot " + slot + " was " + fault, LIMIT, () -> isComplete(job));
			this.usages.add(usage(job.process(WITNESS).pid()));
			Thread.sleep(Math.max(0, TimeUnit.NANOSECONDS.toMillis(next - System.nanoTime())));
		}
	}

	private void inflict(ElasticJob job, TestHosts hosts, Fault fault, int slot) throws Exception {
		long generation = generation(job, WITNESS);
		long at = System.currentTimeMillis();
		switch (fault) {
			case KILLED -> job.signal(slot, "KILL");
			case STOPPED -> job.signal(slot, "STOP");
			case PARTITIONED -> hosts.network().divide(sides(slot));
			case SEPARATED -> hosts.network().separate(slot, neighbour(slot));
		}
		job.await("a step without slot " + slot, LIMIT, () -> generation(job, WITNESS) > generation);
		long recovered = lastStep(job, WITNESS)[2];
		this.recoveries.add(new Recovery(fault, slot, recovered - at));
		System.out.println("chaos: slot " + slot + " " + fault + ", next step after " + (recovered - at) + " ms");
		switch (fault) {
			case KILLED -> start(job, slot);
			case STOPPED -> job.signal(slot, "CONT");
			case PARTITIONED -> {
				assertThat(job.exitCode(slot, LIMIT)).as(job.report()).isEqualTo(ExitCode.DEADLINE_PASSED);
				hosts.network().repair();
				start(job, slot);
			}
			case SEPARATED -> {
				int ended = endedOf(job, slot, neighbour(slot));
				// Slot 0 leads: another one that does not reach it waits for it.
				assertThat(job.exitCode(ended, LIMIT)).as(job.report())
					.isEqualTo((slot == 0 || neighbour(slot) == 0) ? ExitCode.DEADLINE_PASSED : ExitCode.PEER_LOST);
				hosts.network().repair();
				start(job, ended);
			}
		}
	}

	private static int endedOf(ElasticJob job, int one, int other) throws Exception {
		job.await("the end of slot " + one + " or " + other, LIMIT,
				() -> !job.process(one).isAlive() || !job.process(other).isAlive());
		return job.process(one).isAlive() ? other : one;
	}

	private static int neighbour(int slot) {
		return (slot + 1) % WITNESS;
	}

	private static List<Integer> sides(int alone) {
		return IntStream.range(0, RANKS).mapToObj((slot) -> (slot == alone) ? 1 : 0).toList();
	}

	/** Generation, world size and time of the last line about a step; zeros for none. */
	private static long[] lastStep(ElasticJob job, int slot) {
		return job.lines(slot)
			.reversed()
			.stream()
			.filter((line) -> line.matches("step \\d+ generation \\d+ of \\d+ at \\d{13}"))
			.findFirst()
			.map((line) -> line.split(" "))
			.map((words) -> new long[] { Long.parseLong(words[3]), Long.parseLong(words[5]), Long.parseLong(words[7]) })
			.orElse(new long[] { -1, 0, 0 });
	}

	private static long generation(ElasticJob job, int slot) {
		return lastStep(job, slot)[0];
	}

	private static boolean isComplete(ElasticJob job) {
		long[] newest = lastStep(job, WITNESS);
		return newest[1] == RANKS && IntStream.range(0, WITNESS).allMatch((slot) -> generation(job, slot) == newest[0]);
	}

	/**
	 * Stops the job, and returns the words of its last line, which is that of every rank.
	 */
	private String[] end(ElasticJob job) throws Exception {
		Files.createFile(this.folder.resolve("stop"));
		List<String> last = new ArrayList<>();
		for (int slot = 0; slot < RANKS; slot++) {
			assertThat(job.exitCode(slot, LIMIT)).as(job.report()).isZero();
			last.add(job.lines(slot).getLast());
			assertThat(job.process(slot).descendants()).isEmpty();
		}
		assertThat(last).as("the same parameters and counts on every rank").containsOnly(last.getFirst());
		String[] done = last.getFirst().split(" ");
		assertThat(done[0]).isEqualTo("done");
		assertThat(done[2].split(",")).as("parameters of each rank").hasSize(RANKS).containsOnly(done[2].split(",")[0]);
		return done;
	}

	private List<float[]> undisturbed(long steps) throws Exception {
		Path alone = Files.createDirectory(this.folder.resolve("undisturbed"));
		try (ElasticJob job = new ElasticJob(alone, 1, 1, program(alone, steps, 0)).startAll()) {
			assertThat(job.exitCode(0, Duration.ofSeconds(60 + this.seconds))).as(job.report()).isZero();
			assertThat(job.lines(0).getLast()).startsWith("done " + steps + " ");
		}
		return parameters("undisturbed/checkpoints");
	}

	private List<float[]> parameters(String checkpoints) throws IOException {
		return CheckpointFixture.values(CheckpointFixture.list(this.folder.resolve(checkpoints)).getFirst());
	}

	/** ‖b − a‖ / ‖a‖. */
	private static double distance(List<float[]> a, List<float[]> b) {
		double difference = 0;
		double norm = 0;
		for (int tensor = 0; tensor < a.size(); tensor++) {
			for (int index = 0; index < a.get(tensor).length; index++) {
				difference += Math.pow(b.get(tensor)[index] - a.get(tensor)[index], 2);
				norm += Math.pow(a.get(tensor)[index], 2);
			}
		}
		System.out.println("chaos: distance from the undisturbed parameters " + Math.sqrt(difference / norm));
		return Math.sqrt(difference / norm);
	}

	/**
	 * The last generation in which a step was begun has completed it with each sample of
	 * its batch. Returns the number of samples that are missing or too many.
	 */
	private long requireEachSampleOnce(long steps) throws IOException {
		Map<Integer, TreeMap<Long, List<Integer>>> used = new HashMap<>();
		try (Stream<Path> files = Files.list(this.folder)) {
			for (Path file : files.filter((each) -> each.getFileName().toString().startsWith("samples-")).toList()) {
				for (String line : Files.readAllLines(file)) {
					String[] words = line.split(" ", 4);
					used.computeIfAbsent(Integer.valueOf(words[0]), (step) -> new TreeMap<>())
						.computeIfAbsent(Long.valueOf(words[1]), (generation) -> new ArrayList<>())
						.addAll(indices(words[3]));
				}
			}
		}
		BatchSchedule schedule = new BatchSchedule(SAMPLES, ChaosRank.GLOBAL_BATCH, 1, ChaosRank.SEED);
		long wrong = 0;
		for (int step = 1; step <= steps; step++) {
			int[] batch = schedule.samples(schedule.order((step - 1) / schedule.stepsPerEpoch()),
					(step - 1) % schedule.stepsPerEpoch(), 0);
			List<Integer> last = new ArrayList<>(used.get(step).lastEntry().getValue());
			for (int sample : batch) {
				wrong += last.remove(Integer.valueOf(sample)) ? 0 : 1;
			}
			wrong += last.size();
		}
		assertThat(wrong).as("samples that are lost or repeated").isZero();
		return wrong;
	}

	private static List<Integer> indices(String list) {
		return Arrays.stream(list.split(",")).filter((word) -> !word.isEmpty()).map(Integer::valueOf).toList();
	}

	private void requireNothingLeft(List<Path> memories) throws IOException {
		assertThat(this.pids).noneMatch((pid) -> ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isPresent());
		for (Path memory : memories) {
			try (Stream<Path> files = Files.list(memory)) {
				assertThat(files.map((file) -> file.getFileName().toString())
					.filter((name) -> name.startsWith("tutti-"))
					.filter((name) -> this.pids.stream().anyMatch((pid) -> name.contains("-" + pid + "-")))).isEmpty();
			}
		}
	}

	private static Usage usage(long pid) throws IOException {
		long resident = Files.readAllLines(Path.of("/proc", "" + pid, "status"))
			.stream()
			.filter((line) -> line.startsWith("VmRSS:"))
			.mapToLong((line) -> Long.parseLong(line.replaceAll("\\D", "")))
			.sum();
		try (Stream<Path> threads = Files.list(Path.of("/proc", "" + pid, "task"));
				Stream<Path> files = Files.list(Path.of("/proc", "" + pid, "fd"))) {
			return new Usage(resident, threads.count(), files.count());
		}
	}

	/**
	 * Code and classes that a fault needs for the first time are loaded in the first
	 * third.
	 */
	private void requireFlatUsage() {
		int part = Math.max(1, this.usages.size() / 3);
		Usage early = highest(this.usages.subList(0, part));
		Usage late = highest(this.usages.subList(this.usages.size() - part, this.usages.size()));
		System.out.println("chaos: the witness in the first third " + early + ", in the last " + late);
		assertThat(late.threads()).isLessThanOrEqualTo(early.threads() + 10);
		assertThat(late.files()).isLessThanOrEqualTo(early.files() + 10);
		assertThat(late.residentKilobytes()).isLessThanOrEqualTo(early.residentKilobytes() * 5 / 4);
	}

	private static Usage highest(List<Usage> usages) {
		return new Usage(usages.stream().mapToLong(Usage::residentKilobytes).max().orElse(0),
				usages.stream().mapToLong(Usage::threads).max().orElse(0),
				usages.stream().mapToLong(Usage::files).max().orElse(0));
	}

	private void report(long steps, long repeated, long lost) {
		System.out.println("chaos: " + steps + " steps, " + this.recoveries.size() + " recoveries, " + repeated
				+ " steps repeated, " + lost + " samples lost");
		for (Fault fault : Fault.values()) {
			List<Long> times = this.recoveries.stream()
				.filter((recovery) -> recovery.fault() == fault)
				.map(Recovery::millis)
				.sorted()
				.toList();
			if (!times.isEmpty()) {
				System.out.println("chaos: " + fault + " " + times.size() + " times, p50 " + percentile(times, 50)
						+ " ms, p99 " + percentile(times, 99) + " ms, worst " + times.getLast() + " ms");
			}
		}
	}

	private static long percentile(List<Long> sorted, int percent) {
		return sorted.get(Math.min(sorted.size() - 1, sorted.size() * percent / 100));
	}

}
