package io.tutti.engine.transport.shm;

import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;

import io.tutti.engine.Call;
import io.tutti.engine.Collective;
import io.tutti.engine.CollectiveListener;
import io.tutti.engine.Deadline;
import io.tutti.engine.FailureLatch;
import io.tutti.engine.GroupIdentity;
import io.tutti.engine.NativeMemory;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.transport.CallFrame;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Ranks post round after round, each through a mapping of its own, and look at each
 * other's operands only now and then, so that they run ahead as far as they may. Each
 * word of an operand tells its rank, its round and its place: one that is torn, of
 * another round or not there yet is found.
 */
@Timeout(60)
class CallBoardStressTest {

	private static final Duration LIMIT = Duration.ofSeconds(50);

	private static final int ROUNDS = 100_000;

	/** In words: what rides in the fingerprint's line, just more, and a whole slot. */
	private static final int[] WORDS = { 1, 3, 4, 40, 256 };

	private final long seed = Long.getLong("tutti.test.seed", System.nanoTime());

	@TempDir
	private Path directory;

	/**
	 * Stalls by letting the others run, and gives up where one of them has failed.
	 */
	private static final class Yielding implements Patience {

		private final Deadline deadline = Deadline.after(Duration.ofSeconds(30));

		private volatile Throwable fault;

		@Override
		public void stalled() {
			if (this.fault != null || this.deadline.expired()) {
				throw new AssertionError("another rank failed or never came", this.fault);
			}
			Thread.yield();
		}

		@Override
		public void moved() {
		}

	}

	@ParameterizedTest
	@ValueSource(ints = { 2, 3 })
	void everyOperandIsWholeAndOfItsRound(int ranks) throws Exception {
		List<HostMemory> memories = shared(ranks);
		Yielding patience = new Yielding();
		try (Arena arena = Arena.ofShared()) {
			RankThreads.run(ranks, LIMIT, (rank) -> {
				postAtRandom(memories.get(rank), arena, patience);
				return null;
			});
		}
		catch (AssertionError | RuntimeException ex) {
			throw new AssertionError("failed with -Dtutti.test.seed=" + this.seed, ex);
		}
		finally {
			memories.forEach(HostMemory::close);
		}
	}

	private List<HostMemory> shared(int ranks) throws Exception {
		LocalExchange exchange = new LocalExchange(ranks);
		return RankThreads.run(ranks, LIMIT,
				(rank) -> HostHandshake.establish(GroupIdentity.world(rank, ranks, 0), exchange.rank(rank),
						new SharedMemorySettings(true, this.directory, "stress"), CollectiveListener.NONE,
						Deadline.after(LIMIT)));
	}

	private void postAtRandom(HostMemory memory, Arena arena, Yielding patience) {
		try {
			CallFrame frame = new CallFrame(GroupIdentity.world(memory.self(), memory.ranks(), 0), new FailureLatch(),
					arena);
			post(memory, frame, new CallBoard(memory, frame, new Doorbell(memory, null), patience),
					arena.allocate(8L * WORDS[WORDS.length - 1], 64).address());
		}
		catch (AssertionError | RuntimeException ex) {
			patience.fault = ex;
			throw ex;
		}
	}

	private void post(HostMemory memory, CallFrame frame, CallBoard board, long operand) {
		Call whole = Call.forParts(memory.ranks());
		Call call = Call.forParts(memory.ranks());
		SplittableRandom common = new SplittableRandom(this.seed);
		SplittableRandom own = new SplittableRandom(this.seed + memory.self() + 1);
		for (int round = 0; round < ROUNDS; round++) {
			int words = WORDS[common.nextInt(WORDS.length)];
			for (int i = 0; i < words; i++) {
				NativeMemory.putLong(operand + 8L * i, word(memory.self(), round, i));
			}
			frame.begin(call.partOf(whole, Collective.ALL_REDUCE, words, round));
			board.begin();
			board.post(operand, 8L * words);
			if (own.nextInt(4) == 0) {
				board.awaitAll();
				for (int rank = 0; rank < memory.ranks(); rank++) {
					require(board.operand(rank, 8L * words), rank, round, words);
				}
			}
		}
		board.awaitAll();
	}

	private static long word(int rank, int round, int place) {
		return ((long) round << 32 | (long) rank << 16 | place) * 0x9E37_79B9_7F4A_7C15L;
	}

	private static void require(long operand, int rank, int round, int words) {
		for (int i = 0; i < words; i++) {
			if (NativeMemory.getLong(operand + 8L * i) != word(rank, round, i)) {
				throw new AssertionError("round " + round + ": word " + i + " of " + words + " of rank " + rank
						+ " is torn or of another round");
			}
		}
	}

}
