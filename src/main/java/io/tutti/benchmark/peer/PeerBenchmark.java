package io.tutti.benchmark.peer;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import io.tutti.benchmark.Measurement;
import io.tutti.engine.FailureReason;

/**
 * Runs the benchmarks of other systems on this host, one after the other. The ranks of
 * this system must be idle during that time. A peer that is not installed, cannot be
 * built or fails is omitted and reported in one line.
 */
public final class PeerBenchmark {

	private final PeerJob job;

	private final PeerVariants variants;

	private final PeerBuild build;

	private final BoundedProcess process;

	private final SearchPath path;

	private final Consumer<String> notes;

	/**
	 * A benchmark of peers.
	 * @param job options of the measurement
	 * @param directory directory in which the programs are built
	 * @param notes receives which peers were omitted and why
	 */
	public PeerBenchmark(PeerJob job, Path directory, Consumer<String> notes) {
		this(job, directory, SearchPath.ofThisProcess(), notes);
	}

	PeerBenchmark(PeerJob job, Path directory, SearchPath path, Consumer<String> notes) {
		this.job = job;
		this.path = path;
		this.process = new BoundedProcess(path);
		this.build = new PeerBuild(directory, path, this.process);
		this.variants = new PeerVariants(job.ranks(), job.bound(), System.getProperty("user.name").equals("root"));
		this.notes = notes;
	}

	/** Maximum total time of some peers, including builds. */
	public static Duration limit(PeerJob job, List<Peer> peers) {
		PeerVariants variants = new PeerVariants(job.ranks(), job.bound(), false);
		long runs = peers.stream().mapToLong((peer) -> variants.of(peer, job.sharedMemory()).size()).sum();
		Duration run = job.limit().plusSeconds(5);
		return run.multipliedBy(runs).plus(PeerBuild.LIMIT.plusSeconds(5).multipliedBy(peers.size() + 1));
	}

	/**
	 * Runs one peer in all its variants.
	 * @return the lines of all variants that can be run
	 */
	public List<Measurement> run(Peer peer) throws InterruptedException {
		List<Measurement> lines = new ArrayList<>();
		List<PeerVariant> runs = this.variants.of(peer, this.job.sharedMemory());
		if (runs.isEmpty()) {
			this.notes.accept(peer.label() + " skipped: it supports TCP only; add --transport tcp");
		}
		try {
			for (PeerVariant variant : runs) {
				try {
					lines.addAll(run(peer, variant));
				}
				catch (IOException ex) {
					this.notes.accept(peer.label() + " (" + variant.name() + ") failed: " + FailureReason.of(ex));
				}
			}
		}
		catch (PeerUnavailableException ex) {
			this.notes.accept(peer.label() + " skipped: " + ex.getMessage());
		}
		return lines;
	}

	/**
	 * Returns the lines of a variant with right results, including those printed before a
	 * failure.
	 */
	private List<Measurement> run(Peer peer, PeerVariant variant)
			throws PeerUnavailableException, IOException, InterruptedException {
		List<String> command = new ArrayList<>();
		if (!variant.launcher().isEmpty()) {
			command.add(this.path.require(variant.launcher().getFirst()).toString());
			command.addAll(variant.launcher().subList(1, variant.launcher().size()));
		}
		command.add(this.build.build(PeerProgram.of(peer)).toAbsolutePath().toString());
		command.addAll(variant.arguments());
		command.addAll(this.job.arguments());
		ProcessOutcome outcome = this.process.run(command, environment(variant), this.job.limit());
		if (!outcome.succeeded()) {
			this.notes.accept(peer.label() + " (" + variant.name() + ") failed: " + outcome.reason());
		}
		List<Measurement> lines = PeerLines.parse(outcome.output());
		List<Measurement> right = lines.stream().filter((line) -> line.wrong() == 0).toList();
		if (right.size() < lines.size()) {
			this.notes.accept(peer.label() + " (" + variant.name() + "): " + (lines.size() - right.size()) + " of "
					+ lines.size() + " lines left out, since their results were wrong");
		}
		return right;
	}

	private Map<String, String> environment(PeerVariant variant)
			throws PeerUnavailableException, IOException, InterruptedException {
		Map<String, String> environment = new HashMap<>(variant.environment());
		if (!this.job.sharedMemory()) {
			environment.putAll(CongestionControlShim.environment(this.job.congestionControl(), this.build));
		}
		return environment;
	}

}
