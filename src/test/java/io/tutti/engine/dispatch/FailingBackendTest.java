package io.tutti.engine.dispatch;

import java.lang.foreign.MemorySegment;
import java.util.List;

import io.tutti.Collective;
import io.tutti.CollectiveException;
import io.tutti.DataType;
import io.tutti.ExitCode;
import io.tutti.GroupAbortedException;
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
