package io.tutti.service.page;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

import io.tutti.Collective;
import io.tutti.Failure;
import io.tutti.engine.backend.JoinedGroup;
import io.tutti.engine.diagnosis.RankTrace;
import io.tutti.engine.control.PeerStatus;
import io.tutti.service.group.BrokenGeneration;
import io.tutti.service.group.GroupLifecycle;
import io.tutti.service.recorder.TrainingProgress;
import io.tutti.service.recorder.TrainingSpeed;
import io.tutti.service.recorder.TrainingWatch;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.SmartLifecycle;

/**
 * The last ten minutes of this rank and the events of its group, so that a viewer also
 * sees what happened before. Takes a sample a second from this process only; no rank is
 * queried. Thread-safe.
 */
final class PageHistory implements SmartLifecycle {

	private static final Logger log = LoggerFactory.getLogger(PageHistory.class);

	private static final int SAMPLES = 600;

	private static final int EVENTS = 50;

	private static final int SKEW_SAMPLES = 3;

	private static final long PERIOD_MILLIS = 1000;

	private final GroupLifecycle group;

	private final TrainingWatch training;

	private final Deque<PageSample> samples = new ArrayDeque<>();

	private final Deque<PageEvent> events = new ArrayDeque<>();

	private final Set<Integer> gone = new HashSet<>();

	private @Nullable Long skewMicros;

	private int skewSamples;

	private @Nullable String trainingState;

	private long bytes;

	private long takenNanos = System.nanoTime();

	private @Nullable Thread sampler;

	PageHistory(GroupLifecycle group, TrainingWatch training) {
		this.group = group;
		this.training = training;
		add("start", "rank " + group.assignment().rank() + " of " + group.assignment().worldSize() + " started");
		group.onFormed(this::formed);
		group.onBroken(this::broken);
	}

	/** In an elastic group, the ranks of the next generation are others. */
	private synchronized void formed(JoinedGroup joined) {
		this.gone.clear();
		add("generation", "generation " + joined.world().generation() + " formed: " + joined.world().worldSize()
				+ " ranks, after " + this.group.formedAfter().toMillis() + " ms");
	}

	private synchronized void broken(BrokenGeneration broken) {
		Failure failure = broken.failure();
		add("broken", (this.group.isElastic() ? "generation " + generation(broken) + " broke: " : "the group broke: ")
				+ failure.describe());
		if (this.group.isElastic() && failure.kind() == Failure.Kind.PEER_LOST) {
			List<Integer> launched = this.group.history().ranks();
			failure.ranks().forEach((rank) -> add("lost", name(rank, launched) + " lost"));
		}
	}

	/** A rank of an elastic group, with the launcher's where the two differ. */
	private static String name(int rank, List<Integer> launched) {
		boolean differ = rank < launched.size() && launched.get(rank) != rank;
		return "rank " + rank + (differ ? " (launched as " + launched.get(rank) + ")" : "");
	}

	private static String generation(BrokenGeneration broken) {
		RankTrace trace = broken.trace();
		return (trace != null) ? String.valueOf(trace.generation()) : "0";
	}

	/** The samples, oldest first. */
	synchronized List<PageSample> samples() {
		return List.copyOf(this.samples);
	}

	/** The newest sample, {@code null} before the first. */
	synchronized @Nullable PageSample latest() {
		return this.samples.peekLast();
	}

	/** The events, oldest first. */
	synchronized List<PageEvent> events() {
		return List.copyOf(this.events);
	}

	/**
	 * Adds the skew to the next samples, until the page is closed: it measures the skew
	 * about once a second.
	 */
	synchronized void skew(@Nullable Long micros) {
		this.skewMicros = micros;
		this.skewSamples = SKEW_SAMPLES;
	}

	/** Takes a sample. */
	synchronized void sample() {
		JoinedGroup joined = this.group.joined();
		TrainingProgress progress = this.training.progress();
		TrainingSpeed speed = (progress != null) ? progress.speed() : null;
		this.samples.addLast(new PageSample(System.currentTimeMillis(), bytesPerSecond(), this.skewMicros,
				(progress != null) ? progress.loss() : null, (speed != null) ? speed.samplesPerSecond() : null,
				(speed != null) ? speed.exposedShare() : null));
		this.skewSamples--;
		if (this.skewSamples <= 0) {
			this.skewMicros = null;
		}
		if (this.samples.size() > SAMPLES) {
			this.samples.removeFirst();
		}
		if (joined != null) {
			joined.control().peers().forEach(this::peer);
		}
		if (progress != null) {
			train(progress);
		}
	}

	private double bytesPerSecond() {
		long now = System.nanoTime();
		long total = 0;
		for (Collective collective : Collective.values()) {
			total += this.group.totals(collective).bytes();
		}
		double rate = Math.max(0, total - this.bytes) * 1e9 / Math.max(1, now - this.takenNanos);
		this.bytes = total;
		this.takenNanos = now;
		return rate;
	}

	private void peer(PeerStatus peer) {
		boolean left = peer.state() == PeerStatus.State.LEFT;
		// The loss of a rank of an elastic group breaks its generation, which is
		// reported.
		boolean lost = peer.state() == PeerStatus.State.LOST && !this.group.isElastic();
		if ((left || lost) && this.gone.add(peer.rank())) {
			List<Integer> launched = this.group.isElastic() ? this.group.history().ranks() : List.of();
			add(left ? "left" : "lost", name(peer.rank(), launched) + (left ? " left" : " lost"));
		}
	}

	private void train(TrainingProgress progress) {
		String state = (progress.state() != null) ? progress.state()
				: "from step " + progress.plan().firstStep() + " of " + progress.plan().totalSteps();
		if (!Objects.equals(state, this.trainingState)) {
			this.trainingState = state;
			add("training", "training " + progress.plan().data() + ": " + state);
		}
	}

	private synchronized void add(String kind, String text) {
		this.events.addLast(new PageEvent(System.currentTimeMillis(), kind, text));
		if (this.events.size() > EVENTS) {
			this.events.removeFirst();
		}
	}

	@Override
	public synchronized void start() {
		if (this.sampler == null) {
			this.sampler = Thread.ofVirtual().name("tutti-page-history").start(this::run);
		}
	}

	private void run() {
		try {
			while (true) {
				trySample();
				Thread.sleep(PERIOD_MILLIS);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/** After a failure, the next sample is taken a second later. */
	private void trySample() {
		try {
			sample();
		}
		catch (RuntimeException ex) {
			log.warn("no sample could be taken for the page", ex);
		}
	}

	@Override
	public synchronized void stop() {
		if (this.sampler != null) {
			this.sampler.interrupt();
			this.sampler = null;
		}
	}

	@Override
	public synchronized boolean isRunning() {
		return this.sampler != null;
	}

}
