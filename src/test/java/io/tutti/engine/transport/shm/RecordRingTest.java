package io.tutti.engine.transport.shm;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.tutti.engine.spi.NativeMemory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(60)
class RecordRingTest {

	private static final int CAPACITY = 4096;

	private final MemorySegment memory = Arena.ofAuto().allocate(HostLayout.LINE_BYTES + CAPACITY, 4096);

	private final MemorySegment bytes = Arena.ofAuto().allocate(2 * CAPACITY, 64);

	private RecordRing side() {
		return new RecordRing(this.memory.address(), CAPACITY);
	}

	/**
	 * Each word is a valid length of a record, so an old one must not be taken for one.
	 */
	@Test
	void everyWordArrivesOnceAndInOrder() throws Exception {
		WordTransfer transfer = new WordTransfer(CAPACITY, (index) -> 1 + index % 997);
		RecordRing writer = side();
		RecordRing reader = side();
		WordTransfer.run(
				(random) -> transfer.put(writer::put, random,
						(sizes) -> sizes.nextBoolean() ? 8 : CAPACITY / Long.BYTES),
				(random) -> transfer.take(reader::take, random));
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
