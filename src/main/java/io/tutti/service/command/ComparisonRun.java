package io.tutti.service.command;

import java.io.IOException;
import java.time.Duration;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.stream.Stream;

import io.tutti.BadConfigurationException;
import io.tutti.ProcessGroup;
import io.tutti.benchmark.BenchmarkOptions;
import io.tutti.benchmark.BenchmarkReport;
import io.tutti.benchmark.CollectiveBenchmark;
import io.tutti.benchmark.CoreBinding;
import io.tutti.benchmark.CoreDistance;
import io.tutti.benchmark.CoreDistances;
import io.tutti.benchmark.Measurement;
import io.tutti.benchmark.TimingNoise;
import io.tutti.benchmark.peer.BuildDirectory;
import io.tutti.benchmark.peer.Comparison;
import io.tutti.benchmark.peer.ComparisonReport;
import io.tutti.benchmark.peer.Peer;
import io.tutti.benchmark.peer.PeerBenchmark;
import io.tutti.benchmark.peer.PeerJob;
import io.tutti.engine.backend.JoinedGroup;
import io.tutti.service.config.TransportProperties;
import io.tutti.service.group.GroupLifecycle;

import org.springframework.context.ApplicationContext;

/**
 * A benchmark that alternates with other systems. In each round all ranks measure, then
 * rank 0 runs the other systems. Meanwhile the other ranks block at a control-plane
 * barrier, which does not spin.
 */
final class ComparisonRun {

	private static final String BARRIER = "bench-peers";

	/** Ranks may reach the barrier before rank 0 starts the other systems. */
	private static final Duration SLACK = Duration.ofMinutes(1);

	private final JoinedGroup joined;

	private final BenchmarkOptions options;

	private final List<Peer> peers;

	private final int rounds;

	private final PeerJob job;

	private final CoreBinding binding;

	private final Comparison comparison = new Comparison();

	private final TimingNoise disturbance = new TimingNoise();

	private final CoreDistances distances = new CoreDistances();

	/** Distance of the cores after the latest run of rank 0. */
	private OptionalDouble latestDistance = OptionalDouble.empty();

	private final WrongResults wrong = new WrongResults();

	/** Waits for the group to form. */
	ComparisonRun(ApplicationContext context, BenchmarkOptions options, List<Peer> peers, int rounds, BindTo bindTo)
			throws Exception {
		GroupLifecycle group = context.getBean(GroupLifecycle.class);
		if (group.assignment().localWorldSize() != group.assignment().worldSize()) {
			throw new BadConfigurationException(
					"Only " + group.assignment().localWorldSize() + " of " + group.assignment().worldSize()
							+ " ranks are on this host",
					"--against needs all ranks on one host: start them there or omit it");
		}
		this.joined = group.formed().get();
		this.options = options;
		this.peers = peers;
		this.rounds = rounds;
		this.binding = bindTo.binding(group.assignment());
		ProcessGroup world = this.joined.world();
		boolean sharedMemory = ComparableGroup.sharedMemory(world.transport());
		ComparableGroup.requireSameCores(world, CoreBinding.allowed().orElseGet(BitSet::new));
		String control = context.getBean(TransportProperties.class).congestionControl();
		this.job = new PeerJob(options, world.worldSize(), sharedMemory, control, this.binding != CoreBinding.NONE);
	}

	/** Measures and returns the exit code. Wrong results of Tutti are internal errors. */
	int run(BenchmarkReport format) throws InterruptedException, IOException {
		if (this.joined.world().rank() == 0) {
			lead(format);
		}
		else {
			follow();
		}
		return this.wrong.exitCode();
	}

	private void lead(BenchmarkReport format) throws InterruptedException, IOException {
		try (BuildDirectory directory = BuildDirectory.ofThisJvm()) {
			PeerBenchmark others = new PeerBenchmark(this.job, directory.path(), ComparisonRun::say);
			this.latestDistance = CoreDistance.measure();
			for (int round = 1; round <= this.rounds; round++) {
				say("round " + round + " of " + this.rounds + ": tutti");
				measure();
				takeDistance("tutti");
				measure(others, round);
				await();
			}
		}
		new ComparisonReport(format, this.peers).lines(this.comparison, this.distances).forEach(System.out::println);
		this.comparison.notes().forEach(ComparisonRun::say);
		Stream.of(this.distances.note(), this.disturbance.note(), this.wrong.note())
			.filter(Objects::nonNull)
			.forEach(ComparisonRun::say);
	}

	private void follow() {
		for (int round = 1; round <= this.rounds; round++) {
			measure();
			await();
		}
	}

	private void measure() {
		CollectiveBenchmark benchmark = new CollectiveBenchmark(this.joined.world(), this.options, this.binding);
		benchmark.run(this::take);
		String note = benchmark.note();
		if (this.joined.world().rank() == 0 && note != null) {
			say(note);
		}
	}

	private void take(Measurement line) {
		this.wrong.take(line);
		this.disturbance.take(line);
		this.comparison.add(line);
	}

	private void measure(PeerBenchmark others, int round) throws InterruptedException {
		for (Peer peer : this.peers) {
			say("round " + round + " of " + this.rounds + ": " + peer.label());
			this.comparison.add(peer, others.run(peer));
			takeDistance(peer.label());
		}
	}

	/** The other ranks wait meanwhile. */
	private void takeDistance(String system) {
		OptionalDouble before = this.latestDistance;
		this.latestDistance = CoreDistance.measure();
		this.distances.add(system, before, this.latestDistance);
	}

	private void await() {
		Await.barrier(this.joined, BARRIER, PeerBenchmark.limit(this.job, this.peers).plus(SLACK),
				"the peers' benchmarks");
	}

	private static void say(String note) {
		System.err.println("tutti: " + note);
	}

}
