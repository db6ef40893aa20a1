package io.tutti.engine.transport.shm;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.LongUnaryOperator;
import java.util.function.ToLongFunction;

import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.spi.Deadline;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Numbered words that one thread puts into a ring while another takes them out, in
 * independent random amounts. Each must arrive intact, once and in order.
 */
final class WordTransfer {

	/** On busy cores each filling of a ring costs a time slice. */
	static final long WORDS = 1_000_000;

	/** For one wait; the run of both sides may take longer. */
	private static final Duration LIMIT = Duration.ofSeconds(20);

	private final int capacity;

	private final LongUnaryOperator word;

	/**
	 * @param capacity bytes in the ring
	 * @param word the word with a number
	 */
	WordTransfer(int capacity, LongUnaryOperator word) {
		this.capacity = capacity;
		this.word = word;
	}

	/** Copies bytes to or from an address and returns how many; 0 if there are none. */
	@FunctionalInterface
	interface Copy {

		long copy(long address, long bytes) throws IOException;

	}

	/** One side of a transfer, which returns the number of its words. */
	@FunctionalInterface
	interface Side {

		long run(SplittableRandom random) throws IOException;

	}

	static void run(Side writer, Side reader) throws Exception {
		long seed = Long.getLong("tutti.test.seed", System.nanoTime());
		List<Long> words = RankThreads.run(2, LIMIT.multipliedBy(2), (side) -> (side == 0)
				? writer.run(new SplittableRandom(seed)) : reader.run(new SplittableRandom(seed + 1)));
		assertThat(words).as("words, with -Dtutti.test.seed=%s", seed).containsOnly(WORDS);
	}

	/**
	 * @param most the largest number of words put at once, chosen before each copy
	 */
	long put(Copy ring, SplittableRandom random, ToLongFunction<SplittableRandom> most) throws IOException {
		MemorySegment source = Arena.ofAuto().allocate(this.capacity, 8);
		long next = 0;
		Deadline wait = beginWait();
		while (next < WORDS) {
			long wanted = Math.min(WORDS - next, random.nextLong(1, most.applyAsLong(random)));
			for (long i = 0; i < wanted; i++) {
				source.setAtIndex(ValueLayout.JAVA_LONG, i, this.word.applyAsLong(next + i));
			}
			long put = ring.copy(source.address(), wanted * Long.BYTES);
			assertThat(put % Long.BYTES).isZero();
			next += put / Long.BYTES;
			wait = yieldIf(put == 0, wait);
		}
		return next;
	}

	/** Takes all words, also of a corrupt stream, so that the writer can finish. */
	long take(Copy ring, SplittableRandom random) throws IOException {
		MemorySegment target = Arena.ofAuto().allocate(this.capacity, 8);
		long next = 0;
		long wrong = -1;
		Deadline wait = beginWait();
		while (next < WORDS) {
			long wanted = Math.min(WORDS - next, random.nextLong(1, this.capacity / Long.BYTES));
			long words = ring.copy(target.address(), wanted * Long.BYTES) / Long.BYTES;
			for (long i = 0; i < words; i++, next++) {
				boolean right = target.getAtIndex(ValueLayout.JAVA_LONG, i) == this.word.applyAsLong(next);
				wrong = (wrong < 0 && !right) ? next : wrong;
			}
			wait = yieldIf(words == 0, wait);
		}
		assertThat(wrong).as("the first wrong word, -1 for none").isEqualTo(-1);
		return next;
	}

	/** The deadline of the next wait: time in which words move does not count. */
	static Deadline yieldIf(boolean idle, Deadline wait) {
		if (!idle) {
			return beginWait();
		}
		assertThat(wait.expired()).as("waits for a word that never comes").isFalse();
		Thread.yield();
		return wait;
	}

	static Deadline beginWait() {
		return Deadline.after(LIMIT);
	}

}
