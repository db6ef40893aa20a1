package io.tutti.engine.algorithm.shared;

import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import io.tutti.Collective;
import io.tutti.DataType;
import io.tutti.ReduceOp;
import io.tutti.engine.algorithm.Scratch;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.IssuedCall;
import io.tutti.engine.transport.shm.HostPair;
import io.tutti.engine.transport.shm.SharedMemorySettings;
import io.tutti.engine.transport.shm.ShmTransport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two ranks in one thread, so that the test controls the order of steps.
 */
@Timeout(60)
class SharedReductionTest {

	private static final Duration LIMIT = Duration.ofSeconds(30);

	/** Three blocks and a bit more. */
	private static final int COUNT = 100_001;

	private static final long READABLE_BYTES = 160 << 10;

	@TempDir
	private Path directory;

	/**
	 * The root's receive buffer is its send buffer, which holds sums up to the block that
	 * cannot be read: they must not be added again.
	 */
	@Test
	void aReduceInPlaceContinuesWhereTheOtherBufferCouldNotBeRead() throws Exception {
		List<ShmTransport> ranks = HostPair.transports(new SharedMemorySettings(this.directory, "reduction"));
		try (Arena arena = Arena.ofConfined();
				Scratch scratch = new Scratch(2);
				RandomAccessFile file = new RandomAccessFile(this.directory.resolve("operand").toFile(), "rw")) {
			long bytes = Integer.BYTES * (long) COUNT;
			file.setLength(bytes);
			MemorySegment operand = file.getChannel().map(MapMode.READ_WRITE, 0, bytes, arena);
			MemorySegment result = arena.allocate(ValueLayout.JAVA_INT, COUNT);
			fill(operand, 1_000_000, 0);
			fill(result, 1, 0);
			SharedReduction root = reduction(0, ranks, scratch);
			SharedReduction other = reduction(1, ranks, scratch);
			Call rootCall = enter(ranks.get(0), result, result);
			Call otherCall = enter(ranks.get(1), operand, MemorySegment.NULL);
			root.post(rootCall, true);
			other.post(otherCall, true);
			ranks.forEach((rank) -> rank.slots().awaitAll());
			ranks.forEach((rank) -> rank.buffers().begin());
			file.setLength(READABLE_BYTES);
			root.runDirectly(rootCall, false);
			file.setLength(bytes);
			fill(operand, 1_000_000, (int) (READABLE_BYTES / Integer.BYTES));
			ranks.forEach((rank) -> rank.buffers().finish());
			assertThat(ranks).noneMatch((rank) -> rank.buffers().awaitFinished());
			assertThat(result.getAtIndex(ValueLayout.JAVA_INT, 0)).isEqualTo(1_000_001);
			ranks.get(0).pipeline().begin(root.divide(rootCall));
			ranks.get(1).pipeline().begin(other.divide(otherCall));
			for (long chunk = 0; chunk < root.chunks(rootCall); chunk++) {
				other.put(otherCall, chunk);
				root.take(rootCall, chunk);
				long taken = chunk;
				ranks.forEach((rank) -> rank.pipeline().taken(taken));
			}
			for (int i = 0; i < COUNT; i++) {
				assertThat(result.getAtIndex(ValueLayout.JAVA_INT, i)).isEqualTo(1_000_001 * (i + 1));
			}
		}
		finally {
			ranks.forEach(ShmTransport::close);
		}
	}

	private static SharedReduction reduction(int rank, List<ShmTransport> ranks, Scratch scratch) {
		return new SharedReduction(rank, 2, ranks.get(rank), ReductionKernels.get(), scratch, Collective.REDUCE);
	}

	private static Call enter(ShmTransport rank, MemorySegment send, MemorySegment receive) {
		Call call = IssuedCall.barrier(2, LIMIT);
		call.describe(0, Collective.REDUCE, COUNT, DataType.INT32, ReduceOp.SUM, 0);
		call.place(send.address(), send.byteSize(), receive.address(), receive.byteSize());
		rank.enter(call);
		return call;
	}

	private static void fill(MemorySegment operand, int factor, int from) {
		for (int i = from; i < COUNT; i++) {
			operand.setAtIndex(ValueLayout.JAVA_INT, i, factor * (i + 1));
		}
	}

}
