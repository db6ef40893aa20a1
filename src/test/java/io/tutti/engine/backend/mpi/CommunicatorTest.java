package io.tutti.engine.backend.mpi;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import io.tutti.CollectiveTimeoutException;
import io.tutti.DataType;
import io.tutti.GroupAbortedException;
import io.tutti.MessageMismatchException;
import io.tutti.ReduceOp;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.SimulatedWorld;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

@Timeout(120)
class CommunicatorTest {

	/** A message that takes long enough to be changed on its way. */
	private static final int LARGE = 64 << 20;

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 3 })
	void theEnginePassesTheMpiConformanceChecks(int size) throws Exception {
		List<Integer> checks = onEveryRank(size, Timeouts.DEFAULTS, MpiConformance::run);
		assertThat(checks).hasSize(size).allMatch((count) -> count > 700);
	}

	@Test
	void aReceiveThatMissesItsDeadlineFails() throws Exception {
		List<Long> waited = onEveryRank(2, Timeouts.DEFAULTS, (world) -> {
			if (world.rank() == 0) {
				assertThatExceptionOfType(CollectiveTimeoutException.class)
					.isThrownBy(() -> world.recv(new int[1], 1, DataType.INT32, 1, 0, Duration.ofMillis(200)))
					.satisfies((ex) -> assertThat(ex.failure().elapsed()).isGreaterThan(Duration.ofMillis(190)));
			}
			return 0L;
		});
		assertThat(waited).hasSize(2);
	}

	@Test
	void aFailedSendRecvNoLongerReadsItsSendBuffer() throws Exception {
		onEveryRank(2, Timeouts.DEFAULTS, (world) -> {
			if (world.rank() == 1) {
				byte[] received = new byte[LARGE];
				Request large = world.iRecv(received, LARGE, DataType.INT8, 0, 1);
				world.send(new int[] { 1, 2 }, 2, DataType.INT32, 0, 2);
				large.waitFor();
				assertThat(Arrays.mismatch(received, large(0x11))).isEqualTo(-1);
				return 0;
			}
			byte[] message = large(0x11);
			world.group().probe(1, 2);
			assertThatExceptionOfType(MessageMismatchException.class).isThrownBy(
					() -> world.sendRecv(message, LARGE, DataType.INT8, 1, 1, new int[1], 1, DataType.INT32, 1, 2));
			Arrays.fill(message, (byte) 0x22);
			return 0;
		});
	}

	@Test
	void waitAllThrowsOnceAllRequestsAreDone() throws Exception {
		onEveryRank(2, Timeouts.DEFAULTS, (world) -> {
			if (world.rank() == 1) {
				world.send(new int[] { 1, 2 }, 2, DataType.INT32, 0, 1);
				world.send(large(0x11), LARGE, DataType.INT8, 0, 2);
				return 0;
			}
			Request tooLarge = world.iRecv(new int[1], 1, DataType.INT32, 1, 1);
			Request large = world.iRecv(new byte[LARGE], LARGE, DataType.INT8, 1, 2);
			assertThatExceptionOfType(MessageMismatchException.class)
				.isThrownBy(() -> Request.waitAll(tooLarge, large));
			assertThat(large.test()).isPresent();
			return 0;
		});
	}

	private static byte[] large(int value) {
		byte[] bytes = new byte[LARGE];
		Arrays.fill(bytes, (byte) value);
		return bytes;
	}

	@Test
	void anAbortFailsEveryRanksCallsWithTheCode() throws Exception {
		onEveryRank(2, Timeouts.DEFAULTS, (world) -> {
			if (world.rank() == 1) {
				world.abort(3);
			}
			assertThatExceptionOfType(GroupAbortedException.class).isThrownBy(world::barrier)
				.withMessageContaining("MPI_Abort was called with code 3")
				.withMessageContaining("rank 1")
				.satisfies((failure) -> assertThat(failure.exitCode()).isEqualTo(3));
			return 0;
		});
	}

	@Test
	void anAbortOfAPartOfAGroupEndsThatPartAlone() throws Exception {
		onEveryRank(2, Timeouts.DEFAULTS, (world) -> {
			try (Communicator part = world.split(0, world.rank())) {
				if (part.rank() == 1) {
					part.abort(3);
				}
				assertThatExceptionOfType(GroupAbortedException.class).isThrownBy(part::barrier)
					.withMessageContaining("MPI_Abort was called with code 3")
					.satisfies((failure) -> assertThat(failure.exitCode()).isEqualTo(3));
			}
			world.barrier();
			return 0;
		});
	}

	@Test
	void aMissingBufferOrTypeIsRefusedByName() throws Exception {
		onEveryRank(1, Timeouts.DEFAULTS, (world) -> {
			assertThatNullPointerException().isThrownBy(() -> world.bcast(null, 1, DataType.INT32, 0))
				.withMessage("rank 0 of group world: broadcast: buffer must not be null");
			assertThatNullPointerException().isThrownBy(() -> world.send(new int[1], 1, null, 0, 0))
				.withMessage("rank 0 of group world: send: type must not be null");
			assertThatNullPointerException()
				.isThrownBy(() -> world.reduceScatter(new int[1], new int[1], null, DataType.INT32, ReduceOp.SUM))
				.withMessage("rank 0 of group world: reduce-scatter: counts must not be null");
			return 0;
		});
	}

	@Test
	void aWrongArgumentIsRefusedWithRankGroupAndCall() throws Exception {
		onEveryRank(2, Timeouts.DEFAULTS, (world) -> {
			int[] three = new int[3];
			String place = "rank " + world.rank() + " of group world: ";
			refused(place + "broadcast: root must be in 0..1, got 2", () -> world.bcast(three, 3, DataType.INT32, 2));
			refused(place + "send: destination must be in 0..1, got 5",
					() -> world.iSend(three, 3, DataType.INT32, 5, 0));
			refused(place + "receive: source must be in 0..1, got 2", () -> world.recv(three, 3, DataType.INT32, 2, 0));
			refused(place + "all-reduce: count must be at least 0, got -1",
					() -> world.allReduce(three, -1, DataType.INT32, ReduceOp.SUM));
			refused(place + "gather: the buffer holds 3 elements of int32, and 4 were asked for",
					() -> world.gather(three, 4, DataType.INT32, 1 - world.rank()));
			refused(place + "all-to-all: an array float[] does not hold elements of int32",
					() -> world.allToAll(new float[2], 1, DataType.INT32));
			refused(place + "reduce-scatter: counts must be one per rank (2), got 1",
					() -> world.reduceScatter(three, new int[] { 3 }, DataType.INT32, ReduceOp.SUM));
			refused(place + "scatter: the root needs a send buffer, got null",
					() -> world.scatter(null, three, 1, DataType.INT32, world.rank()));
			refused(place + "send-receive: send and receive buffers must not overlap",
					() -> world.sendRecv(three, 1, DataType.INT32, 0, 0, three, 1, DataType.INT32, 0, 0));
			refused(place + "split: color must be at least 0 or Mpi.UNDEFINED, got -9", () -> world.split(-9, 0));
			return 0;
		});
	}

	private static void refused(String message, ThrowingCallable call) {
		assertThatExceptionOfType(RuntimeException.class).isThrownBy(call).withMessage(message);
	}

	@Test
	void anInterruptedWaitAbortsTheGroup() throws Exception {
		onEveryRank(2, Timeouts.DEFAULTS, (world) -> {
			if (world.rank() == 0) {
				Request never = world.iRecv(new int[1], 1, DataType.INT32, 1, 0);
				assertThat(never.test()).isEmpty();
				Thread.currentThread().interrupt();
				assertThatExceptionOfType(GroupAbortedException.class).isThrownBy(never::waitFor)
					.withMessageContaining("interrupted while it waited for receive");
				assertThat(Thread.interrupted()).isTrue();
			}
			return 0;
		});
	}

	private static <T> List<T> onEveryRank(int size, Timeouts timeouts, Work<T> work) throws Exception {
		try (SimulatedWorld simulated = new SimulatedWorld(size, timeouts);
				ExecutorService ranks = Executors.newFixedThreadPool(size)) {
			List<Callable<T>> tasks = new ArrayList<>();
			for (int rank = 0; rank < size; rank++) {
				Communicator world = Communicator.over(simulated.group(rank));
				tasks.add(() -> work.run(world));
			}
			List<T> results = new ArrayList<>();
			for (Future<T> result : ranks.invokeAll(tasks, 100, TimeUnit.SECONDS)) {
				results.add(result.get());
			}
			return results;
		}
	}

	/** The task of one rank. */
	@FunctionalInterface
	private interface Work<T> {

		T run(Communicator world) throws Exception;

	}

}
