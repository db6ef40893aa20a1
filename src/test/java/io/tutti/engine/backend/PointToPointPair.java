package io.tutti.engine.backend;

import java.io.IOException;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

import io.tutti.CollectiveListener;
import io.tutti.Failure;
import io.tutti.engine.control.PeerAddress;
import io.tutti.engine.control.SessionKey;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.p2p.MessageSettings;
import io.tutti.engine.p2p.PointToPointEngine;
import io.tutti.engine.p2p.UnexpectedMessageBudget;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.transport.Connections;
import io.tutti.engine.transport.shm.HostHandshake;
import io.tutti.engine.transport.shm.LocalExchange;
import io.tutti.engine.transport.shm.RingConnections;
import io.tutti.engine.transport.shm.SharedMemorySettings;
import io.tutti.engine.transport.simulated.SimulatedConnections;
import io.tutti.engine.transport.simulated.SimulatedNetwork;
import io.tutti.engine.transport.tcp.DataListener;
import io.tutti.engine.transport.tcp.TcpConnections;
import io.tutti.engine.transport.tcp.TcpSettings;
import org.jspecify.annotations.Nullable;

/**
 * The point-to-point engines of two ranks in this JVM. Rank 0 of the job does not answer:
 * failures are recorded, and the test issues the verdict.
 */
final class PointToPointPair implements AutoCloseable {

	/** The transport. */
	enum Kind {

		SIMULATED, MEMORY, TCP

	}

	private static final Duration LIMIT = Duration.ofSeconds(30);

	private final List<FailureLatch> latches = List.of(new FailureLatch(), new FailureLatch());

	private final List<BlockingQueue<Failure>> reports = List.of(new LinkedBlockingQueue<>(),
			new LinkedBlockingQueue<>());

	private final List<DataListener> listeners = new ArrayList<>();

	private final List<UnexpectedMessageBudget> unexpected;

	private final Duration drain;

	private final List<PointToPointEngine> engines;

	PointToPointPair(Kind kind) throws Exception {
		this(kind, "127.0.0.1", UnexpectedMessageBudget.LIMIT, LIMIT);
	}

	/**
	 * @param unexpectedBytes budget of each rank
	 * @param drain how long closing waits until queued messages are sent
	 */
	PointToPointPair(Kind kind, long unexpectedBytes, Duration drain) throws Exception {
		this(kind, "127.0.0.1", unexpectedBytes, drain);
	}

	private PointToPointPair(Kind kind, String advertised, long unexpectedBytes, Duration drain) throws Exception {
		this.unexpected = List.of(new UnexpectedMessageBudget(unexpectedBytes),
				new UnexpectedMessageBudget(unexpectedBytes));
		this.drain = drain;
		List<Connections> connections = switch (kind) {
			case SIMULATED -> simulated();
			case MEMORY -> overMemory();
			case TCP -> connectionsOverTcp(advertised);
		};
		this.engines = List.of(engine(0, connections.get(0)), engine(1, connections.get(1)));
	}

	/** Two ranks that advertise a host. */
	static PointToPointPair overTcp(String advertised) throws Exception {
		return new PointToPointPair(Kind.TCP, advertised, UnexpectedMessageBudget.LIMIT, LIMIT);
	}

	private PointToPointEngine engine(int rank, Connections connections) {
		FailureLatch latch = this.latches.get(rank);
		latch.reportTo(identity(rank), this.reports.get(rank)::add, LIMIT);
		return new PointToPointEngine(identity(rank), latch, connections,
				new MessageSettings(true, this.drain, this.unexpected.get(rank)));
	}

	private static GroupIdentity identity(int rank) {
		return GroupIdentity.world(rank, 2, 0);
	}

	private static List<Connections> simulated() {
		SimulatedNetwork network = new SimulatedNetwork(2);
		return List.of(new SimulatedConnections(identity(0), network), new SimulatedConnections(identity(1), network));
	}

	private static List<Connections> overMemory() throws Exception {
		LocalExchange exchange = new LocalExchange(2);
		return RankThreads.run(2, LIMIT, (rank) -> {
			try (var memory = HostHandshake.establish(identity(rank), exchange.rank(rank),
					SharedMemorySettings.of("messages"), CollectiveListener.NONE, Deadline.after(LIMIT))) {
				return new RingConnections(memory, memory.members(), false);
			}
		});
	}

	private List<Connections> connectionsOverTcp(String advertised) throws IOException {
		SessionKey key = new SessionKey(new byte[] { 7 });
		List<PeerAddress> roster = new ArrayList<>();
		for (int rank = 0; rank < 2; rank++) {
			DataListener listener = DataListener.open(InetAddress.getLoopbackAddress(), 0, 2);
			listener.start(rank, key, null);
			this.listeners.add(listener);
			roster.add(new PeerAddress(rank, advertised, listener.port(), "host"));
		}
		List<Connections> connections = new ArrayList<>();
		for (int rank = 0; rank < 2; rank++) {
			connections.add(new TcpConnections(identity(rank), roster, this.listeners.get(rank), key,
					new TcpSettings("system", LIMIT, LIMIT, true, null), CollectiveListener.NONE));
		}
		return connections;
	}

	PointToPointEngine engine(int rank) {
		return this.engines.get(rank);
	}

	UnexpectedMessageBudget unexpected(int rank) {
		return this.unexpected.get(rank);
	}

	/** The verdict that a rank has, if any. */
	@Nullable Failure failure(int rank) {
		return this.latches.get(rank).failure();
	}

	/** The failures that a rank has reported. */
	BlockingQueue<Failure> reports(int rank) {
		return this.reports.get(rank);
	}

	/** Issues a rank's own report as its verdict. */
	void resolveLocally(int rank) {
		Thread.startVirtualThread(() -> {
			try {
				issueVerdict(rank, this.reports.get(rank).take());
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		});
	}

	/** Issues the verdict to a rank. */
	void issueVerdict(int rank, Failure verdict) {
		this.latches.get(rank).trip(verdict);
		this.engines.get(rank).wake();
	}

	/** Breaks the group on both ranks. */
	void fail(String reason) {
		for (int rank = 0; rank < 2; rank++) {
			issueVerdict(rank, Failure.outside(Failure.Kind.ABORTED, Failure.WORLD, List.of(0), reason));
		}
	}

	@Override
	public void close() {
		this.engines.reversed().forEach(PointToPointEngine::leave);
		this.listeners.forEach(DataListener::close);
	}

}
