package io.tutti.engine.backend.nccl;

import java.time.Duration;

import io.tutti.ReduceOp;
import io.tutti.engine.device.DeviceBuffer;
import io.tutti.engine.device.DeviceDataType;
import io.tutti.engine.device.DeviceRuntime;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares the speed of a single-rank all-reduce with a copy on the device and prints a
 * table in the format of nccl-tests.
 */
@Tag("gpu")
@Timeout(300)
class GpuBandwidthTest {

	private static final long GIBIBYTE = 1L << 30;

	private static final int ROUNDS = 20;

	@Test
	void aGibibyteIsReducedAtHalfTheSpeedOfACopyOrFaster() {
		NcclLibrary library = Gpu.require();
		DeviceRuntime runtime = library.runtime();
		long count = GIBIBYTE / Float.BYTES;
		double reduced = 0;
		double copied = 1;
		try (RankCommunicator communicator = RankCommunicator.create(library, RankCommunicator.newId(library),
				new RankPlacement(0, 1, 0), null, Duration.ofSeconds(60));
				DeviceBuffer from = DeviceBuffer.allocate(runtime, 0, count, DeviceDataType.FLOAT32);
				DeviceBuffer to = DeviceBuffer.allocate(runtime, 0, count, DeviceDataType.FLOAT32)) {
			System.out.printf("# one rank, float32 sum, out of place, %s%n", library.availability());
			System.out.printf("%12s %12s %14s %12s %14s%n", "bytes", "count", "all-reduce us", "GB/s", "copy GB/s");
			for (long bytes = 4; bytes <= GIBIBYTE; bytes *= 16) {
				long elements = bytes / Float.BYTES;
				long size = bytes;
				long stream = communicator.operations().stream();
				DeviceOperands operands = new DeviceOperands(0, from.address(), elements, to.address(), elements,
						DeviceDataType.FLOAT32);
				double nanos = nanos(runtime, stream,
						() -> communicator.operations().allReduce(operands, DeviceReduction.of(ReduceOp.SUM)));
				double copyNanos = nanos(runtime, stream,
						() -> runtime.copy(to.address(), from.address(), size, stream));
				reduced = bytes / nanos;
				copied = bytes / copyNanos;
				System.out.printf("%12d %12d %14.2f %12.2f %14.2f%n", bytes, elements, nanos / 1000, reduced, copied);
			}
		}
		assertThat(reduced).isGreaterThan(copied / 2);
	}

	private static double nanos(DeviceRuntime runtime, long stream, Runnable call) {
		call.run();
		GpuElements.awaitIdle(runtime, stream);
		long start = System.nanoTime();
		for (int round = 0; round < ROUNDS; round++) {
			call.run();
		}
		GpuElements.awaitIdle(runtime, stream);
		return (System.nanoTime() - start) / (double) ROUNDS;
	}

}
