package io.tutti.engine.control.simulated;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.tutti.engine.control.ControlListener;
import io.tutti.engine.control.ControlMessage.Leave;
import io.tutti.engine.control.ControlMessage.Notice;
import io.tutti.engine.control.ControlMessage.Request;
import io.tutti.engine.control.ControlPlane;
import io.tutti.engine.control.Coordinator;
import io.tutti.engine.control.PeerAddress;
import io.tutti.engine.control.PeerTable;
import io.tutti.engine.control.RankControl;
import io.tutti.engine.control.labelled.BarrierService;
import io.tutti.engine.control.labelled.LabelledWaits;
import org.jspecify.annotations.Nullable;

/**
 * The control plane of ranks within one process. It decides as over TCP, with one thread
 * instead of connections. A group of one rank also uses it, so it opens no port. The
 * thread ends by itself when it is idle.
 */
public final class SimulatedControl {

	/** Within one process a slower answer is not to be expected. */
	private static final Duration VERDICT_LIMIT = Duration.ofSeconds(1);

	private static final Duration ANSWER_LIMIT = Duration.ofSeconds(30);

	private static final long IDLE_SECONDS = 1;

	private final Map<Integer, RankControl> ranks = new ConcurrentSkipListMap<>();

	private final Coordinator coordinator;

	private final PeerTable peers;

	private final ScheduledThreadPoolExecutor thread;

	private @Nullable Future<?> timer;

	/**
	 * Creates a world of simulated ranks, none of which has joined.
	 * @param worldSize at least 1
	 */
	public SimulatedControl(int worldSize) {
		this("tutti-simulated-control", inProcess(worldSize));
	}

	public SimulatedControl(String threadName, List<PeerAddress> roster) {
		this.peers = new PeerTable(roster.size(), System::nanoTime);
		this.peers.roster(roster);
		ToRanks downlink = new ToRanks();
		this.coordinator = new Coordinator(this.peers, VERDICT_LIMIT, System::nanoTime, downlink,
				new BarrierService(roster.size(), System::nanoTime, downlink));
		this.thread = new ScheduledThreadPoolExecutor(1, Thread.ofPlatform().name(threadName).daemon().factory());
		this.thread.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
		this.thread.allowCoreThreadTimeOut(true);
		this.thread.setRemoveOnCancelPolicy(true);
	}

	private static List<PeerAddress> inProcess(int worldSize) {
		if (worldSize < 1) {
			throw new IllegalArgumentException("world size must be at least 1, got " + worldSize);
		}
		return IntStream.range(0, worldSize)
			.mapToObj((rank) -> new PeerAddress(rank, "in-process", 0, "in-process"))
			.toList();
	}

	/**
	 * Joins as a rank. Its events arrive on this world's thread.
	 * @throws IllegalArgumentException if the rank is out of range or has joined before
	 */
	public ControlPlane join(int rank, ControlListener events) {
		int worldSize = this.peers.worldSize();
		if (rank < 0 || rank >= worldSize) {
			throw new IllegalArgumentException("rank must be in 0.." + (worldSize - 1) + ", got " + rank);
		}
		FromRank uplink = new FromRank(rank);
		RankControl control = new RankControl(rank, ControlListener.guarded(events), this.peers, uplink,
				new LabelledWaits(rank, worldSize, uplink, ANSWER_LIMIT));
		if (this.ranks.putIfAbsent(rank, control) != null) {
			throw new IllegalArgumentException("rank " + rank + " has joined before");
		}
		this.peers.received(rank);
		return control;
	}

	/**
	 * Ends a rank like a crash: it no longer sends or receives, and rank 0 declares it
	 * lost.
	 */
	public void kill(int rank) {
		execute(() -> this.coordinator.lost(rank, "it was killed"));
	}

	private void execute(Runnable task) {
		this.thread.execute(() -> run(task));
	}

	/** An error ends the control plane of every rank, as that of a thread over TCP. */
	private void run(Runnable task) {
		try {
			task.run();
			tick();
		}
		catch (RuntimeException | Error ex) {
			this.ranks.values().forEach((rank) -> rank.rankZeroLost("its control thread failed: " + ex));
		}
	}

	private void tick() {
		this.coordinator.tick();
		if (this.timer != null) {
			this.timer.cancel(false);
		}
		long dueNanos = this.coordinator.nanosUntilDue();
		this.timer = (dueNanos == Long.MAX_VALUE) ? null
				: this.thread.schedule(() -> run(this.coordinator::tick), dueNanos, TimeUnit.NANOSECONDS);
	}

	/** Delivers notices from the thread to every rank. */
	private final class ToRanks implements Coordinator.Downlink {

		@Override
		public void send(int rank, Notice notice) {
			RankControl control = SimulatedControl.this.ranks.get(rank);
			if (control != null && SimulatedControl.this.peers.isUp(rank)) {
				control.receive(notice);
			}
		}

		@Override
		public void broadcast(Notice notice) {
			SimulatedControl.this.ranks.keySet().forEach((rank) -> send(rank, notice));
		}

	}

	/** Delivers requests from one rank to the thread. */
	private final class FromRank implements RankControl.Uplink {

		private final int rank;

		FromRank(int rank) {
			this.rank = rank;
		}

		@Override
		public void send(Request request) {
			execute(() -> {
				if (SimulatedControl.this.peers.isUp(this.rank)) {
					SimulatedControl.this.peers.received(this.rank);
					SimulatedControl.this.coordinator.receive(this.rank, request);
				}
			});
		}

		@Override
		public void execute(Runnable task) {
			SimulatedControl.this.execute(task);
		}

		@Override
		public void leave() {
			send(Leave.inOrder());
		}

	}

}
