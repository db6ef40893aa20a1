package io.tutti.engine.dispatch;

import java.lang.foreign.MemorySegment;
import java.util.List;

import io.tutti.Collective;
import io.tutti.CollectiveException;
import io.tutti.DataType;
import io.tutti.ExitCode;
import io.tutti.GroupAbortedException;
import io.tutti.GroupState;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.Timeouts;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.GroupBackend;
import io.tutti.engine.spi.GroupIdentity;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * A backend that throws something other than its documented exception: a defect, or no
 * memory.
 */
@Timeout(20)
class FailingBackendTest {

	@Test
	void anUncheckedExceptionBecomesAFailureWithThePlaceOfTheCall() {
		RuntimeException defect = new NullPointerException("a defect");
		try (ProcessGroup group = group(new Failing(defect))) {
			assertThatExceptionOfType(GroupAbortedException.class)
				.isThrownBy(() -> group.allReduce(new int[1], ReduceOp.SUM))
				.withMessageStartingWith("rank 6: ")
				.withMessageContaining("all-reduce #0")
				.withMessageContaining("a defect")
				.withCause(defect)
				.satisfies(FailingBackendTest::carriesItsPlace)
				.satisfies((ex) -> assertThat(ExitCode.of(ex)).isEqualTo(ExitCode.INTERNAL));
			assertThatExceptionOfType(GroupAbortedException.class).isThrownBy(group::barrier)
				.withMessageContaining("a defect");
		}
	}

	@Test
	void soDoesThatOfAnAsynchronousCall() {
		RuntimeException defect = new ArrayIndexOutOfBoundsException(7);
		try (ProcessGroup group = group(new Failing(defect))) {
			assertThatExceptionOfType(GroupAbortedException.class)
				.isThrownBy(() -> group
					.allReduceAsync(List.of(MemorySegment.ofArray(new int[1])), DataType.INT32, ReduceOp.SUM)
					.await())
				.withRootCauseExactlyInstanceOf(ArrayIndexOutOfBoundsException.class)
				.satisfies(FailingBackendTest::carriesItsPlace);
		}
	}

	@Test
	void anErrorOfTheVirtualMachineStaysAndHasThePlaceBesideIt() {
		try (ProcessGroup group = group(new Failing(new OutOfMemoryError("no memory")))) {
			assertThatExceptionOfType(OutOfMemoryError.class)
				.isThrownBy(() -> group.allReduce(new int[1], ReduceOp.SUM))
				.satisfies((ex) -> carriesItsPlace((CollectiveException) ex.getSuppressed()[0]));
		}
	}

	@Test
	void aCallOfMoreElementsThanTheBackendCountsIsRefusedAndTheGroupStaysUsable() {
		try (ProcessGroup group = group(new Failing(new IllegalStateException("a call ran")))) {
			MemorySegment large = MemorySegment.ofArray(new byte[Failing.LARGEST + 1]);
			MemorySegment part = MemorySegment.ofArray(new byte[1]);
			long[] counts = { Failing.LARGEST, 1 };
			String problem = " must be in 0..1024 elements on the backend failing, got 1025";
			assertThatIllegalArgumentException()
				.isThrownBy(() -> group.allReduceAsync(large, DataType.INT8, ReduceOp.SUM))
				.withMessage("rank 1 of group world/0.1: all-reduce: count" + problem);
			assertThatIllegalArgumentException().isThrownBy(() -> group.allGather(part, large, counts, DataType.INT8))
				.withMessage("rank 1 of group world/0.1: all-gather: sum of the counts" + problem);
			assertThatIllegalArgumentException()
				.isThrownBy(() -> group.allToAll(part, new long[] { 0, 1 }, large, counts, DataType.INT8))
				.withMessage("rank 1 of group world/0.1: all-to-all: sum of the receiveCounts" + problem);
			assertThat(group.lastEntered()).isEqualTo(-1);
			assertThat(group.state()).isEqualTo(GroupState.READY);
		}
	}

	private static void carriesItsPlace(CollectiveException failure) {
		assertThat(failure.rank()).isEqualTo(6);
		assertThat(failure.worldSize()).isEqualTo(8);
		assertThat(failure.group()).isEqualTo("world/0.1");
		assertThat(failure.collective()).isEqualTo(Collective.ALL_REDUCE);
		assertThat(failure.sequence()).isZero();
		assertThat(failure.peers()).containsExactly(6);
	}

	private static ProcessGroup group(GroupBackend backend) {
		FailureLatch latch = new FailureLatch();
		GroupIdentity identity = new GroupIdentity("world/0.1", 1, List.of(4, 6), 8, 0, "", false);
		return new DefaultProcessGroup(identity, backend, latch, latch::trip, Timeouts.DEFAULTS);
	}

	private record Failing(Throwable failure) implements GroupBackend {

		private static final int LARGEST = 1024;

		@Override
		public long largestCount() {
			return LARGEST;
		}

		@Override
		public String name() {
			return "failing";
		}

		@Override
		public String transport() {
			return "none";
		}

		@Override
		public void run(Call call) {
			if (this.failure instanceof Error error) {
				throw error;
			}
			throw (RuntimeException) this.failure;
		}

		@Override
		public void wake() {
		}

		@Override
		public void close() {
		}

	}

}
