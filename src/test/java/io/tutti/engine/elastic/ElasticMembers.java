package io.tutti.engine.elastic;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;

import io.tutti.CollectiveListener;
import io.tutti.ElasticLoop;
import io.tutti.ElasticState;
import io.tutti.FreePort;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.Timeouts;
import io.tutti.engine.algorithm.AlgorithmOverrides;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.backend.SharedConfig;
import io.tutti.engine.backend.TransportChoice;
import io.tutti.engine.bootstrap.Endpoint;
import io.tutti.engine.elastic.ElasticSettings.QuorumRule;

/**
 * Members of one elastic job in this process, over loopback.
 */
final class ElasticMembers {

	private final int founding;

	private final ElasticSettings elastic;

	private final EngineSettings settings;

	private final int masterPort;

	final List<String> warnings = new CopyOnWriteArrayList<>();

	private final CollectiveListener listener = new CollectiveListener() {

		@Override
		public void warn(String message) {
			ElasticMembers.this.warnings.add(message);
		}

	};

	ElasticMembers(int founding, int maxRanks, int minRanks) throws Exception {
		this(founding, maxRanks, minRanks, Duration.ofSeconds(60));
	}

	ElasticMembers(int founding, int maxRanks, int minRanks, Duration rendezvous) throws Exception {
		this.founding = founding;
		List<Endpoint> endpoints = IntStream.range(0, maxRanks)
			.mapToObj((_) -> new Endpoint("127.0.0.1", FreePort.next()))
			.toList();
		this.masterPort = FreePort.next();
		this.elastic = new ElasticSettings(minRanks, Duration.ZERO, 0, QuorumRule.LIVE, endpoints);
		// Only a connection that ends shows the loss of a rank here: no heartbeat is late
		// on a busy machine.
		Timeouts timeouts = new Timeouts(rendezvous, Duration.ofSeconds(60), Duration.ofSeconds(60),
				Duration.ofSeconds(2), Duration.ofSeconds(2));
		EngineSettings defaults = EngineSettings.DEFAULTS;
		this.settings = new EngineSettings(defaults.backend(), "elastic-test", "secret", -1, null, null, null, 0,
				defaults.congestionControl(), new SharedConfig(TransportChoice.TCP, AlgorithmOverrides.NONE), timeouts,
				null);
	}

	EngineSettings settings() {
		return this.settings;
	}

	ElasticSettings elastic() {
		return this.elastic;
	}

	ElasticEngine engine(int slot) {
		RankAssignment assignment = RankAssignment.onOneHost(slot, Math.max(this.founding, slot + 1), this.masterPort);
		return ElasticEngine.open(assignment, this.settings, this.elastic, this.listener);
	}

	/** A member that counts steps and adds a number that all ranks agree on. */
	final class Rank implements ElasticState, AutoCloseable {

		final int slot;

		final DefaultElasticGroup group;

		final ElasticEngine engine;

		private final long lastStep;

		volatile long step;

		volatile long sum;

		volatile Runnable atStep = () -> {
		};

		/** After the collective of a step. */
		volatile Runnable afterReduce = () -> {
		};

		/** After the last step. */
		volatile Runnable atReturn = () -> {
		};

		volatile Runnable atSynchronize = () -> {
		};

		volatile Runnable atRollback = () -> {
		};

		/** Whether the group is closed when its run has ended. */
		volatile boolean closes = true;

		final CompletableFuture<Long> result = new CompletableFuture<>();

		Rank(int slot, long lastStep) {
			this.slot = slot;
			this.lastStep = lastStep;
			this.engine = engine(slot);
			this.group = new DefaultElasticGroup(this.engine, () -> {
			});
		}

		Rank start() {
			Thread.ofPlatform().name("slot-" + this.slot).daemon().start(() -> {
				try {
					this.result.complete(this.group.run(this, loop()));
				}
				catch (Throwable ex) {
					this.result.completeExceptionally(ex);
				}
				if (this.closes) {
					close();
				}
			});
			return this;
		}

		private ElasticLoop<Long> loop() {
			return (members) -> {
				while (this.step < this.lastStep) {
					this.atStep.run();
					long[] one = { this.step + 1 };
					members.allReduce(one, ReduceOp.MAX);
					this.afterReduce.run();
					this.sum += one[0];
					this.step++;
					commit();
				}
				this.atReturn.run();
				return this.sum;
			};
		}

		/** As a framework that wraps exceptions. */
		private void commit() {
			try {
				this.group.commit();
			}
			catch (RuntimeException ex) {
				throw new IllegalStateException("a step failed", ex);
			}
		}

		@Override
		public long step() {
			return this.step;
		}

		@Override
		public void rollback() {
			// A step changes the state only after its collective.
			this.atRollback.run();
		}

		@Override
		public void synchronize(ProcessGroup members, int source) {
			this.atSynchronize.run();
			long[] all = { this.step, this.sum };
			members.broadcast(all, source);
			this.step = all[0];
			this.sum = all[1];
		}

		@Override
		public byte[] digest() {
			return ByteBuffer.allocate(16).putLong(this.step).putLong(this.sum).array();
		}

		@Override
		public void close() {
			this.group.close();
		}

	}

	List<Rank> start(long lastStep) {
		return IntStream.range(0, this.founding).mapToObj((slot) -> new Rank(slot, lastStep).start()).toList();
	}

}
