package io.tutti.engine.transport.shm;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;

import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.NativeMemory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(60)
class RecordRingTest {

	private static final int CAPACITY = 4096;

	private static final long WORDS = 3_000_000;

	private final MemorySegment memory = Arena.ofAuto().allocate(HostLayout.LINE_BYTES + CAPACITY, 4096);

	private final MemorySegment bytes = Arena.ofAuto().allocate(2 * CAPACITY, 64);

	private final Deadline deadline = Deadline.after(Duration.ofSeconds(30));

	private RecordRing side() {
		return new RecordRing(this.memory.address(), CAPACITY);
	}

	/**
	 * One thread fills the ring and another empties it, in independent random amounts.
	 * Each word is a valid length of a record, so an old one must not be taken for one.
	 */
	@Test
	void everyWordArrivesOnceAndInOrder() throws Exception {
		long seed = Long.getLong("tutti.test.seed", System.nanoTime());
		List<Long> words = RankThreads.run(2, Duration.ofSeconds(50), (side) -> (side == 0)
				? put(side(), new SplittableRandom(seed)) : take(side(), new SplittableRandom(seed + 1)));
		assertThat(words).as("words, with -Dtutti.test.seed=%s", seed).containsOnly(WORDS);
	}

	private static long word(long index) {
		return 1 + index % 997;
	}

	private long put(RecordRing ring, SplittableRandom random) {
		MemorySegment source = Arena.ofAuto().allocate(CAPACITY, 8);
		long next = 0;
		while (next < WORDS) {
			long most = random.nextBoolean() ? 8 : CAPACITY / Long.BYTES;
			long wanted = Math.min(WORDS - next, random.nextLong(1, most));
			for (long i = 0; i < wanted; i++) {
				source.setAtIndex(ValueLayout.JAVA_LONG, i, word(next + i));
			}
			long put = ring.put(source.address(), wanted * Long.BYTES);
			assertThat(put % Long.BYTES).isZero();
			next += put / Long.BYTES;
			yieldIf(put == 0);
		}
		return next;
	}

	/** Takes all words, also of a corrupt stream, so that the writer can finish. */
	private long take(RecordRing ring, SplittableRandom random) throws IOException {
		MemorySegment target = Arena.ofAuto().allocate(CAPACITY, 8);
		long next = 0;
		long wrong = -1;
		while (next < WORDS) {
			long wanted = Math.min(WORDS - next, random.nextLong(1, CAPACITY / Long.BYTES));
			long words = ring.take(target.address(), wanted * Long.BYTES) / Long.BYTES;
			for (long i = 0; i < words; i++, next++) {
				wrong = (wrong < 0 && target.getAtIndex(ValueLayout.JAVA_LONG, i) != word(next)) ? next : wrong;
			}
			yieldIf(words == 0);
		}
		assertThat(wrong).as("the first wrong word, -1 for none").isEqualTo(-1);
		return next;
	}

	private void yieldIf(boolean idle) {
		if (idle) {
			assertThat(this.deadline.expired()).as("waits for a word that never comes").isFalse();
			Thread.yield();
		}
	}

	@Test
	void aFullRingTakesNoMoreUntilARecordIsReleased() throws IOException {
		RecordRing writer = side();
		RecordRing reader = side();
		long put = 0;
		for (long count = writer.put(this.bytes.address(), 100); count > 0; count = writer.put(this.bytes.address(),
				100)) {
			put += count;
		}
		assertThat(writer.hasRoom()).isFalse();
		assertThat(put).isBetween(CAPACITY / 2L, (long) CAPACITY);
		assertThat(reader.take(this.bytes.address(), 60)).isEqualTo(60);
		assertThat(writer.hasRoom()).as("within a record").isFalse();
		assertThat(reader.take(this.bytes.address(), 60)).isEqualTo(40);
		assertThat(writer.hasRoom()).isTrue();
		assertThat(writer.put(this.bytes.address(), 100)).isPositive();
	}

	/** Leaves from one line to all lines before the end of the ring. */
	@Test
	void aRecordOfAnySizeFitsAtAnyPlace() throws IOException {
		for (int size = 1; size <= CAPACITY; size += 5) {
			RecordRing writer = side();
			RecordRing reader = side();
			this.memory.fill((byte) 0);
			for (int round = 0; round < 200; round++) {
				long count = writer.put(this.bytes.address(), size);
				assertThat(count).as("%s bytes, round %s", size, round).isPositive();
				assertThat(reader.take(this.bytes.address(), size)).isEqualTo(count);
			}
		}
	}

	@Test
	void aRecordThatNoWriterHasWrittenIsAnErrorAndNotRead() {
		for (long length : new long[] { -1, Long.MIN_VALUE, CAPACITY, Long.MAX_VALUE }) {
			NativeMemory.putLong(this.memory.address() + HostLayout.LINE_BYTES, length);
			RecordRing reader = side();
			assertThat(reader.hasData()).isTrue();
			assertThatExceptionOfType(IOException.class).isThrownBy(() -> reader.take(this.bytes.address(), CAPACITY))
				.withMessage("the memory of the stream is damaged: a record of " + length + " bytes");
		}
	}

}
