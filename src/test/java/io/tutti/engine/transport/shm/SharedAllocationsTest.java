package io.tutti.engine.transport.shm;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.spi.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * References of rank 0 to its buffers, which rank 1 reads.
 */
@Timeout(60)
class SharedAllocationsTest {

	private static final Duration LIMIT = Duration.ofSeconds(30);

	/** Less than a page. */
	private static final int BYTES = 100;

	@TempDir
	private Path directory;

	private final Arena arena = Arena.ofShared();

	private final LocalExchange exchange = new LocalExchange(2);

	private SharedMemorySettings settings;

	private List<HostMemory> memories;

	private final MemorySegment target = this.arena.allocate(BYTES);

	@BeforeEach
	void shareMemory() throws Exception {
		this.settings = new SharedMemorySettings(this.directory, "allocations");
		this.memories = HostPair.memories(this.settings);
	}

	@AfterEach
	void close() {
		this.memories.forEach(HostMemory::close);
		this.arena.close();
	}

	/** The buffer of each rank, filled with a value. */
	private List<MemorySegment> allocate(Arena owner, int value) throws Exception {
		List<SharedAllocation> made = make();
		return RankThreads.run(2, LIMIT,
				(rank) -> this.memories.get(rank).allocations().add(made.get(rank), owner).fill((byte) (value + rank)));
	}

	private List<SharedAllocation> make() throws Exception {
		return RankThreads.run(2, LIMIT, (rank) -> new SymmetricAllocator(rank, 2, this.exchange.rank(rank),
				new SegmentDirectory(this.settings), Deadline.after(LIMIT))
			.allocate(BYTES));
	}

	private long reference(MemorySegment buffer) {
		return this.memories.getFirst().allocations().reference(buffer.address(), buffer.byteSize());
	}

	private byte[] read(long reference, long bytes) throws IOException {
		this.memories.get(1).allocations().copy(0, reference, this.target.address(), bytes);
		return this.target.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE);
	}

	@Test
	void aReferenceLeadsToTheSamePlaceInAnotherRank() throws Exception {
		MemorySegment first = allocate(this.arena, 10).getFirst();
		MemorySegment second = allocate(this.arena, 20).getFirst();
		second.set(ValueLayout.JAVA_BYTE, BYTES - 1, (byte) 7);
		assertThat(read(reference(first), BYTES)).containsOnly(10);
		assertThat(read(reference(second) + BYTES - 2, 2)).containsExactly(20, 7);
		assertThat(read(reference(second.asSlice(BYTES - 1)), 1)).containsExactly(7);
		long address = this.memories.get(1).allocations().address(0, reference(second) + BYTES - 1);
		assertThat(address).isNotEqualTo(second.address() + BYTES - 1);
	}

	@Test
	void privateMemoryAndBytesBeyondABufferHaveNoReference() throws Exception {
		MemorySegment buffer = allocate(this.arena, 1).getFirst();
		SharedAllocations own = this.memories.getFirst().allocations();
		assertThat(own.reference(this.target.address(), 1)).isZero();
		assertThat(own.reference(buffer.address(), BYTES + 1)).isZero();
		assertThat(own.reference(buffer.address() - 1, 1)).isZero();
	}

	/** Another process may send any reference. */
	@Test
	void aReferenceThatLeadsNowhereIsRefused() throws Exception {
		MemorySegment buffer = allocate(this.arena, 1).getFirst();
		long reference = reference(buffer);
		for (long wrong : new long[] { reference + 1, reference + (1L << 40), Long.MIN_VALUE | Long.MAX_VALUE }) {
			assertThatIOException().isThrownBy(() -> read(wrong, BYTES));
		}
		assertThatIOException().isThrownBy(() -> read(reference, Long.MAX_VALUE));
		assertThatIOException().isThrownBy(() -> read(reference, -1));
	}

	@Test
	void theReferenceOfAFreedBufferDoesNotLeadToALaterOne() throws Exception {
		List<MemorySegment> freed = allocate(this.arena, 1);
		long reference = reference(freed.getFirst());
		this.memories.get(1).allocations().free(freed.get(1));
		allocate(this.arena, 2);
		assertThatIOException().isThrownBy(() -> read(reference, BYTES)).withMessageContaining("not shared");
	}

	/** The memory is unmapped when its arena closes; the allocation was not freed. */
	@Test
	void memoryThatIsUnmappedIsNotRead() throws Exception {
		long reference;
		try (Arena shorter = Arena.ofShared()) {
			reference = reference(allocate(shorter, 1).getFirst());
		}
		assertThatIOException().isThrownBy(() -> read(reference, BYTES)).withMessageContaining("freed");
	}

	/** Such as for want of heap memory; the ranks then fail together and go on. */
	@Test
	void anAllocationThatARankCannotRegisterCountsOnEveryRank() throws Exception {
		Arena closed = Arena.ofShared();
		closed.close();
		assertThatThrownBy(() -> this.memories.get(1).allocations().add(make().get(1), closed))
			.isInstanceOf(IllegalStateException.class);
		this.memories.getFirst().allocations().add(make().getFirst(), this.arena);
		MemorySegment next = allocate(this.arena, 5).getFirst();
		assertThat(read(reference(next), BYTES)).containsOnly(5);
	}

}
