package io.tutti.engine.transport.shm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;

import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.spi.NativeMemory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One thread fills a ring and another empties it, in independent random amounts. Every
 * word must arrive intact, once and in order.
 */
@Timeout(60)
class RingStressTest {

	private static final long CAPACITY = 4096;

	private static final long WORDS = 3_000_000;

	@Test
	void everyWordArrivesOnceAndInOrder() throws Exception {
		long seed = Long.getLong("tutti.test.seed", System.nanoTime());
		MemorySegment memory = Arena.global().allocate(2 * HostLayout.LINE_BYTES + CAPACITY, 4096);
		List<Long> words = RankThreads.run(2, Duration.ofSeconds(50),
				(side) -> (side == 0) ? write(Ring.writer(memory.address(), CAPACITY), new SplittableRandom(seed))
						: read(Ring.reader(memory.address(), CAPACITY), new SplittableRandom(seed + 1)));
		assertThat(words).as("words, with -Dtutti.test.seed=%s", seed).containsOnly(WORDS);
	}

	private static long write(Ring ring, SplittableRandom random) {
		long next = 0;
		while (next < WORDS) {
			if (random.nextInt(8) == 0) {
				ring.align(64);
			}
			long wanted = Math.min(WORDS - next, random.nextLong(1, 100)) * Long.BYTES;
			long bytes = ring.available(wanted) & -Long.BYTES;
			for (long offset = 0; offset < bytes; offset += Long.BYTES) {
				NativeMemory.putLong(ring.address() + offset, next++);
			}
			if (bytes > 0) {
				ring.advance(bytes);
			}
			yieldIf(bytes == 0);
		}
		return next;
	}

	/**
	 * A word that is not the next one was skipped by an alignment, and is always an old
	 * word.
	 */
	private static long read(Ring ring, SplittableRandom random) {
		long next = 0;
		while (next < WORDS) {
			long bytes = ring.available(random.nextLong(1, 100) * Long.BYTES) & -Long.BYTES;
			for (long offset = 0; offset < bytes; offset += Long.BYTES) {
				long word = NativeMemory.getLong(ring.address() + offset);
				if (word == next) {
					next++;
				}
				else if (word > next) {
					throw new AssertionError("expected " + next + ", got " + word);
				}
			}
			ring.advance(bytes);
			yieldIf(bytes == 0);
		}
		return next;
	}

	/**
	 * Copies up to the capacity, since an overrun is possible only in a nearly full ring.
	 */
	@Test
	void everyCopiedWordArrivesOnceAndInOrder() throws Exception {
		long seed = Long.getLong("tutti.test.seed", System.nanoTime());
		MemorySegment memory = Arena.global().allocate(2 * HostLayout.LINE_BYTES + CAPACITY, 4096);
		List<Long> words = RankThreads.run(2, Duration.ofSeconds(50),
				(side) -> (side == 0) ? put(Ring.writer(memory.address(), CAPACITY), new SplittableRandom(seed))
						: take(Ring.reader(memory.address(), CAPACITY), new SplittableRandom(seed + 1)));
		assertThat(words).as("words, with -Dtutti.test.seed=%s", seed).containsOnly(WORDS);
	}

	private static long put(Ring ring, SplittableRandom random) {
		MemorySegment source = Arena.ofAuto().allocate(CAPACITY, 8);
		long next = 0;
		while (next < WORDS) {
			long wanted = Math.min(WORDS - next, random.nextLong(1, CAPACITY / Long.BYTES));
			for (long i = 0; i < wanted; i++) {
				source.setAtIndex(ValueLayout.JAVA_LONG, i, next + i);
			}
			long put = ring.put(source.address(), wanted * Long.BYTES);
			next += put / Long.BYTES;
			yieldIf(put == 0);
		}
		return next;
	}

	/** Takes all words, also of a corrupt stream, so that the writer can finish. */
	private static long take(Ring ring, SplittableRandom random) {
		MemorySegment target = Arena.ofAuto().allocate(CAPACITY, 8);
		long next = 0;
		long wrong = -1;
		while (next < WORDS) {
			long wanted = Math.min(WORDS - next, random.nextLong(1, CAPACITY / Long.BYTES));
			long words = ring.take(target.address(), wanted * Long.BYTES) / Long.BYTES;
			for (long i = 0; i < words; i++, next++) {
				wrong = (wrong < 0 && target.getAtIndex(ValueLayout.JAVA_LONG, i) != next) ? next : wrong;
			}
			yieldIf(words == 0);
		}
		assertThat(wrong).as("the first wrong word, -1 for none").isEqualTo(-1);
		return next;
	}

	private static void yieldIf(boolean idle) {
		if (idle) {
			Thread.yield();
		}
	}

}
