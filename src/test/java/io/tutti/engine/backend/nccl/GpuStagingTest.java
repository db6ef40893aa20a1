package io.tutti.engine.backend.nccl;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.tutti.CollectiveListener;
import io.tutti.ReduceOp;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.backend.SimulatedWorld;
import io.tutti.engine.device.DeviceBuffer;
import io.tutti.engine.device.DeviceCollectives;
import io.tutti.engine.device.DeviceDataType;
import io.tutti.engine.device.DeviceRuntime;
import io.tutti.engine.device.HostFallback;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Staging through pinned host memory from and to a real device.
 */
@Tag("gpu")
@Timeout(120)
class GpuStagingTest {

	private static final long COUNT = 3_000_001;

	@Test
	void theSumIsStagedThroughPinnedMemoryAndTheInputIsKept() throws Exception {
		DeviceRuntime runtime = Gpu.require().runtime();
		List<String> warnings = new CopyOnWriteArrayList<>();
		CollectiveListener listener = new CollectiveListener() {
			@Override
			public void warn(String message) {
				warnings.add(message);
			}
		};
		try (SimulatedWorld world = new SimulatedWorld(2, Timeouts.DEFAULTS)) {
			RankThreads.run(2, Duration.ofSeconds(60), (rank) -> {
				byte[] elements = GpuElements.of(DeviceDataType.FLOAT32, COUNT, (index) -> index % 7 + rank);
				DeviceCollectives collectives = new DeviceCollectives(world.group(rank), runtime,
						new HostFallback(true), listener, Duration.ofSeconds(60));
				try (DeviceBuffer own = GpuElements.upload(runtime, DeviceDataType.FLOAT32, elements);
						DeviceBuffer sum = collectives.allReduce(own, ReduceOp.SUM)) {
					assertThat(GpuElements.download(runtime, sum))
						.isEqualTo(GpuElements.of(DeviceDataType.FLOAT32, COUNT, (index) -> 2 * (index % 7) + 1));
					assertThat(GpuElements.download(runtime, own)).isEqualTo(elements);
				}
				return null;
			});
		}
		assertThat(warnings).hasSize(2);
	}

}
