package io.tutti.engine.transport.shm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;

import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.NativeMemory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * One thread fills a ring and another empties it, in independent random amounts. Every
 * word must arrive intact, once and in order.
 */
@Timeout(60)
class RingStressTest {

	private static final int CAPACITY = 4096;

	private final MemorySegment memory = Arena.ofAuto().allocate(2 * HostLayout.LINE_BYTES + CAPACITY, 4096);

	private final WordTransfer transfer = new WordTransfer(CAPACITY, (index) -> index);

	private final Ring writer = Ring.writer(this.memory.address(), CAPACITY);

	private final Ring reader = Ring.reader(this.memory.address(), CAPACITY);

	@Test
	void everyWordArrivesOnceAndInOrder() throws Exception {
		WordTransfer.run(this::write, this::read);
	}

	private long write(SplittableRandom random) {
		long next = 0;
		Deadline wait = WordTransfer.beginWait();
		while (next < WordTransfer.WORDS) {
			if (random.nextInt(8) == 0) {
				this.writer.align(64);
			}
			long wanted = Math.min(WordTransfer.WORDS - next, random.nextLong(1, 100)) * Long.BYTES;
			long bytes = this.writer.available(wanted) & -Long.BYTES;
			for (long offset = 0; offset < bytes; offset += Long.BYTES) {
				NativeMemory.putLong(this.writer.address() + offset, next++);
			}
			if (bytes > 0) {
				this.writer.advance(bytes);
			}
			wait = WordTransfer.yieldIf(bytes == 0, wait);
		}
		return next;
	}

	/**
	 * A word that is not the next one was skipped by an alignment, and is always an old
	 * word.
	 */
	private long read(SplittableRandom random) {
		long next = 0;
		Deadline wait = WordTransfer.beginWait();
		while (next < WordTransfer.WORDS) {
			long bytes = this.reader.available(random.nextLong(1, 100) * Long.BYTES) & -Long.BYTES;
			for (long offset = 0; offset < bytes; offset += Long.BYTES) {
				long word = NativeMemory.getLong(this.reader.address() + offset);
				if (word == next) {
					next++;
				}
				else if (word > next) {
					throw new AssertionError("expected " + next + ", got " + word);
				}
			}
			this.reader.advance(bytes);
			wait = WordTransfer.yieldIf(bytes == 0, wait);
		}
		return next;
	}

	/**
	 * Copies up to the capacity, since an overrun is possible only in a nearly full ring.
	 */
	@Test
	void everyCopiedWordArrivesOnceAndInOrder() throws Exception {
		WordTransfer.run((random) -> this.transfer.put(this.writer::put, random, (sizes) -> CAPACITY / Long.BYTES),
				(random) -> this.transfer.take(this.reader::take, random));
	}

}
