package io.tutti.engine.transport.shm;

import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;

import io.tutti.CollectiveListener;
import io.tutti.ProcessGroup;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.dispatch.DefaultProcessGroup;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.GroupBackend;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.CallContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two ranks, each with its own mapping, post operands and read the other rank's. They
 * skip some reads and delay others, so that each runs ahead of the other as far as the
 * slots allow. No operand may be torn, stale or too new.
 */
@Timeout(60)
class CallSlotsStressTest {

	private static final Duration LIMIT = Duration.ofSeconds(50);

	private static final long ROUNDS = 300_000;

	/**
	 * Where other processes take turns on all cores, each hand-over takes milliseconds.
	 */
	private static final Duration ENOUGH = Duration.ofSeconds(10);

	/** More than one rank can be ahead of the other. */
	private static final long AHEAD = 64;

	@TempDir
	private Path directory;

	private static long word(int rank, long round, long index) {
		return (round << 20 | index) * 2 + rank;
	}

	/** One rank: a call is one round. */
	private static final class Member implements GroupBackend, WaitPolicy {

		private final HostMemory memory;

		private final CallContext frame;

		private final CallSlots board;

		private final SplittableRandom lengths;

		private final SplittableRandom pauses;

		private final long operand;

		private long round;

		private long wrong;

		Member(HostMemory memory, FailureLatch latch, long seed, Arena arena) {
			this.memory = memory;
			this.frame = new CallContext(GroupIdentity.world(memory.self(), 2, 0), latch, arena);
			this.board = new CallSlots(memory, this.frame, new Doorbell(memory, Futex.find(arena)), this);
			this.lengths = new SplittableRandom(seed);
			this.pauses = new SplittableRandom(seed + memory.self());
			this.operand = arena.allocate(this.board.capacity(), 64).address();
		}

		@Override
		public void run(Call call) {
			int self = this.memory.self();
			long words = this.lengths.nextLong((this.round % 2 == 0) ? 3 : this.board.capacity() / Long.BYTES);
			for (long i = 0; i < words; i++) {
				NativeMemory.putLong(this.operand + Long.BYTES * i, word(self, this.round, i));
			}
			this.frame.begin(call);
			this.board.begin();
			this.board.post(this.operand, Long.BYTES * words);
			this.round++;
			if (this.pauses.nextInt(2) == 0) {
				return;
			}
			this.board.await(1 - self);
			if (this.pauses.nextInt(64) == 0) {
				Thread.yield();
			}
			long theirs = this.board.operand(1 - self, Long.BYTES * words);
			for (long i = 0; i < words; i++) {
				long expected = word(1 - self, this.round - 1, i);
				this.wrong += (NativeMemory.getLong(theirs + Long.BYTES * i) == expected) ? 0 : 1;
			}
		}

		@Override
		public void stalled() {
			Thread.yield();
		}

		@Override
		public void moved() {
		}

		@Override
		public void check() {
		}

		@Override
		public String name() {
			return "board";
		}

		@Override
		public String transport() {
			return ShmTransport.NAME;
		}

		@Override
		public void wake() {
		}

		@Override
		public void close() {
			this.memory.close();
		}

	}

	@Test
	void noOperandIsTornOrStale() throws Exception {
		long seed = Long.getLong("tutti.test.seed", System.nanoTime());
		LocalExchange exchange = new LocalExchange(2);
		SharedMemorySettings settings = new SharedMemorySettings(this.directory, "stress");
		AtomicLong rounds = new AtomicLong(ROUNDS);
		Deadline enough = Deadline.after(ENOUGH);
		try (Arena arena = Arena.ofShared()) {
			List<Long> wrong = RankThreads.run(2, LIMIT, (rank) -> {
				GroupIdentity identity = GroupIdentity.world(rank, 2, 0);
				FailureLatch latch = new FailureLatch();
				Member member = new Member(HostHandshake.establish(identity, exchange.rank(rank), settings,
						CollectiveListener.NONE, Deadline.after(LIMIT)), latch, seed, arena);
				try (ProcessGroup group = new DefaultProcessGroup(identity, member, latch, latch::trip,
						Timeouts.DEFAULTS)) {
					for (long round = 0; round < rounds.get(); round++) {
						group.barrier();
						if (rank == 0 && rounds.get() == ROUNDS && enough.expired()) {
							rounds.set(Math.min(round + AHEAD, ROUNDS));
						}
					}
				}
				return member.wrong;
			});
			assertThat(wrong).as("wrong words, with -Dtutti.test.seed=%s", seed).containsOnly(0L);
		}
	}

}
