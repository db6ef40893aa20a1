package io.tutti.engine.backend;

import java.lang.foreign.MemorySegment;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.tutti.DataType;
import io.tutti.engine.backend.PointToPointPair.Kind;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Native memory for messages from and to the heap does not grow with their number. Alone,
 * since the measured memory is that of the whole process.
 */
@Timeout(120)
@Isolated
class MessageMemoryTest {

	private static final Duration LIMIT = Duration.ofSeconds(60);

	private static final int MESSAGES = 64;

	private static final int BYTES = 1_000_003;

	/** A few staging buffers for each of two ranks. */
	private static final long MOST_NATIVE_BYTES = 4 << 20;

	private static long nativeBytes() {
		return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)
			.stream()
			.filter((pool) -> pool.getName().equals("direct"))
			.mapToLong(BufferPoolMXBean::getMemoryUsed)
			.sum();
	}

	@ParameterizedTest
	@EnumSource
	void manyLargeHeapMessagesUseLittleNativeMemory(Kind kind) throws Exception {
		byte[] content = new byte[BYTES];
		new Random(7).nextBytes(content);
		try (PointToPointPair pair = new PointToPointPair(kind)) {
			long before = nativeBytes();
			List<byte[]> received = new ArrayList<>();
			List<CompletableFuture<?>> open = new ArrayList<>();
			for (int i = 0; i < MESSAGES; i++) {
				received.add(new byte[BYTES]);
				open.add(pair.engine(0)
					.receiveAsync(MemorySegment.ofArray(received.getLast()), DataType.INT8, 1, i, LIMIT));
			}
			for (int i = 0; i < MESSAGES; i++) {
				open.add(pair.engine(1).sendAsync(MemorySegment.ofArray(content), DataType.INT8, 0, i, LIMIT));
			}
			assertThat(nativeBytes() - before).as("while they are under way").isLessThan(MOST_NATIVE_BYTES);
			CompletableFuture.allOf(open.toArray(CompletableFuture[]::new))
				.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
			assertThat(nativeBytes() - before).as("afterwards").isLessThan(MOST_NATIVE_BYTES);
			assertThat(received).allMatch((one) -> Arrays.equals(one, content));
		}
	}

}
