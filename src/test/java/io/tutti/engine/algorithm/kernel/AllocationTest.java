package io.tutti.engine.algorithm.kernel;

import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.time.Duration;

import com.sun.management.ThreadMXBean;
import io.tutti.DataType;
import io.tutti.ReduceOp;
import io.tutti.engine.spi.NativeMemory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.awaitility.Awaitility.await;

@Timeout(90)
class AllocationTest {

	private static final int COUNT = 3001;

	private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

	@ParameterizedTest
	@EnumSource(DataType.class)
	void compiledKernelsAllocateNothing(DataType type) {
		ReductionKernels kernels = ReductionKernels.get();
		try (Arena arena = Arena.ofConfined()) {
			long left = arena.allocate(COUNT * type.bytes()).address();
			long right = arena.allocate(COUNT * type.bytes()).address();
			long second = arena.allocate(COUNT * type.bytes()).address();
			await().pollInSameThread()
				.pollDelay(Duration.ZERO)
				.pollInterval(Duration.ofMillis(1))
				.atMost(Duration.ofSeconds(60))
				.until(() -> allocated(() -> calls(kernels, type, left, right, second)) == 0);
		}
	}

	private static void calls(ReductionKernels kernels, DataType type, long left, long right, long second) {
		for (int call = 0; call < 100; call++) {
			kernels.reduce(type, ReduceOp.AVERAGE, left, left, right, COUNT);
			kernels.reduceToBoth(type, ReduceOp.AVERAGE, left, second, left, right, COUNT);
			kernels.finish(type, ReduceOp.AVERAGE, left, COUNT, 2);
			NativeMemory.copy(left, second, 7);
		}
	}

	private long allocated(Runnable calls) {
		long before = this.threads.getCurrentThreadAllocatedBytes();
		calls.run();
		return this.threads.getCurrentThreadAllocatedBytes() - before;
	}

}
