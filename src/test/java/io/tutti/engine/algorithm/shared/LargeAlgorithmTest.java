package io.tutti.engine.algorithm.shared;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import io.tutti.CollectiveTimeoutException;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.IssuedCall;
import io.tutti.engine.transport.shm.ChunkPipeline;
import io.tutti.engine.transport.shm.HostPair;
import io.tutti.engine.transport.shm.SharedMemorySettings;
import io.tutti.engine.transport.shm.ShmTransport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(30)
class LargeAlgorithmTest {

	@ParameterizedTest
	@CsvSource({ "1, 1, 16384", "1048576, 1, 131072", "100000, 8, 16384", "10000000, 8, 131072", "5000, 256, 16384",
			"5000, 257, 32768", "5000, 513, 65536", "10000000, 3000, 262144", "1, 8192, 524288" })
	void aSlotHoldsACacheLineOfEverySlice(long bytes, int slices, long slotBytes) {
		assertThat(LargeAlgorithm.slotBytes(bytes, slices)).isEqualTo(slotBytes)
			.isLessThanOrEqualTo(ChunkPipeline.BYTES / 2);
		assertThat(LargeAlgorithm.sliceBytes(slotBytes, slices)).isBetween(64L, slotBytes / slices);
	}

	/** Rank 1 never finishes its pass; both ranks are in one thread. */
	@Test
	void aCallThatFailsInItsPassNamesTheRankInItAndStopsIt(@TempDir Path directory) throws Exception {
		List<ShmTransport> ranks = HostPair.transports(new SharedMemorySettings(directory, "large"));
		try {
			List<Call> calls = ranks.stream().map(LargeAlgorithmTest::enter).toList();
			ranks.get(1).slots().post();
			ShmTransport own = ranks.get(0);
			LargeAlgorithm algorithm = new LargeAlgorithm(new Late(own, false), 0, 2, own, new CopyChoices(own));
			ranks.get(1).buffers().requireWritable();
			assertThatThrownBy(() -> algorithm.run(calls.get(0))).isInstanceOfSatisfying(
					CollectiveTimeoutException.class, (late) -> assertThat(late.peers()).containsExactly(1));
			calls.get(1).deadline().restart(System.nanoTime() - 2, 1);
			assertThatThrownBy(ranks.get(1).buffers()::requireWritable).isInstanceOf(CollectiveTimeoutException.class);
		}
		finally {
			ranks.forEach(ShmTransport::close);
		}
	}

	/** Rank 1 enters the call when rank 0 has failed in it. */
	@Test
	void aCallThatFailsBeforeItsPassStopsTheRankThatBeginsOne(@TempDir Path directory) throws Exception {
		List<ShmTransport> ranks = HostPair.transports(new SharedMemorySettings(directory, "large"));
		try {
			List<Call> calls = ranks.stream().map(LargeAlgorithmTest::enter).toList();
			ShmTransport own = ranks.get(0);
			LargeAlgorithm algorithm = new LargeAlgorithm(new Late(own, true), 0, 2, own, new CopyChoices(own));
			assertThatThrownBy(() -> algorithm.run(calls.get(0))).isInstanceOfSatisfying(
					CollectiveTimeoutException.class, (late) -> assertThat(late.peers()).containsExactly(1));
			ranks.get(1).slots().post();
			ranks.get(1).buffers().begin();
			calls.get(1).deadline().restart(System.nanoTime() - 2, 1);
			assertThatThrownBy(ranks.get(1).buffers()::requireWritable).isInstanceOf(CollectiveTimeoutException.class);
		}
		finally {
			ranks.forEach(ShmTransport::close);
		}
	}

	private static Call enter(ShmTransport rank) {
		Call call = IssuedCall.barrier(2, Duration.ofSeconds(30));
		rank.enter(call);
		return call;
	}

	/**
	 * Accesses no buffer; the deadline passes meanwhile, or as soon as the call is
	 * posted.
	 */
	private record Late(ShmTransport transport, boolean atOnce) implements LargeCollective {

		@Override
		public boolean post(Call call, boolean readable) {
			this.transport.slots().post();
			if (this.atOnce) {
				expire(call);
			}
			return true;
		}

		@Override
		public boolean sends(Call call, int rank) {
			return false;
		}

		@Override
		public void runDirectly(Call call, boolean inPlace) {
			expire(call);
		}

		private static void expire(Call call) {
			call.deadline().restart(System.nanoTime() - 2, 1);
		}

		@Override
		public long divide(Call call) {
			throw new UnsupportedOperationException();
		}

		@Override
		public long chunks(Call call) {
			throw new UnsupportedOperationException();
		}

		@Override
		public void put(Call call, long chunk) {
			throw new UnsupportedOperationException();
		}

		@Override
		public void take(Call call, long chunk) {
			throw new UnsupportedOperationException();
		}

	}

}
