package io.tutti;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The data of exceptions, also after frameworks have sent them to another process.
 */
class CollectiveExceptionTest {

	@Test
	void aSerializedExceptionKeepsItsData() throws Exception {
		Failure failure = new Failure(Failure.Kind.TIMEOUT, "world", 7, Collective.ALL_REDUCE, List.of(2, 3),
				"no answer", Duration.ofMillis(20), Duration.ofMillis(10));
		CollectiveException copy = copyOf(CollectiveException.of(1, 4, failure, new IOException("closed")));
		assertThat(copy).isInstanceOf(CollectiveTimeoutException.class).hasMessageContaining("all-reduce #7");
		assertThat(copy.failure()).isEqualTo(failure);
		assertThat(copy.peers()).containsExactly(2, 3);
		assertThat(copy.rank()).isOne();
		assertThat(copy.exitCode()).isEqualTo(ExitCode.DEADLINE_PASSED);
	}

	@Test
	void aMessageNamesSomeOfManyRanks() {
		List<Integer> ranks = IntStream.range(0, 1000).boxed().toList();
		assertThat(lost(ranks.subList(0, 1))).isEqualTo("group world: rank 0 lost: gone");
		assertThat(lost(ranks.subList(0, 16))).endsWith(", 14, 15 lost: gone");
		assertThat(lost(ranks)).startsWith("group world: ranks 0, 1, 2,").endsWith(", 14, 15 and 984 more lost: gone");
	}

	private static String lost(List<Integer> ranks) {
		return Failure.outside(Failure.Kind.PEER_LOST, "world", ranks, "gone").describe();
	}

	@Test
	void anAbortHasOneExitCodeAlsoOnARankThatSawAConsequenceFirst() {
		Failure aborted = Failure.outside(Failure.Kind.ABORTED, "world", List.of(1), "no input")
			.withExitCode(ExitCode.ABORTED);
		Failure lost = Failure.outside(Failure.Kind.PEER_LOST, "world", List.of(1), "its connection closed");
		CollectiveException consequence = CollectiveException.of(2, 3, lost, new IOException("closed"));
		assertThat(ExitCode.of(CollectiveException.of(2, 3, aborted, consequence))).isEqualTo(ExitCode.ABORTED);
		assertThat(ExitCode.of(CollectiveException.of(2, 3, aborted, null))).isEqualTo(ExitCode.ABORTED);
		CollectiveException interrupted = CollectiveException.of(2, 3,
				Failure.outside(Failure.Kind.ABORTED, "world", List.of(2), "interrupted"), new InterruptedException());
		assertThat(ExitCode.of(CollectiveException.of(2, 3, aborted, interrupted))).isEqualTo(ExitCode.ABORTED);
		CollectiveException defect = CollectiveException.of(2, 3, aborted, new NullPointerException());
		assertThat(ExitCode.of(defect)).isEqualTo(ExitCode.INTERNAL);
		assertThat(ExitCode.of(CollectiveException.of(2, 3, aborted, defect))).isEqualTo(ExitCode.INTERNAL);
		assertThat(ExitCode.of(CollectiveException.of(2, 3, aborted, new OutOfMemoryError())))
			.isEqualTo(ExitCode.INTERNAL);
	}

	@Test
	void aMessageThatDoesNotFitCarriesRankAndGroup() throws Exception {
		MessageMismatchException failure = copyOf(new MessageMismatchException(0, 9, DataType.INT32, 40,
				new MessageMismatchException.Receive(1, 4, "world", 3, DataType.INT32, 8)));
		assertThat(failure).hasMessage("rank 1: group world: the message from rank 3 with tag 9 is 40 bytes of int32; "
				+ "the receive buffer takes at most 8 bytes of int32. The message is dropped, and the group stays usable:"
				+ " receive it with the type that is sent, into a buffer with room for it; probe() tells its size");
		assertThat(failure.rank()).isOne();
		assertThat(failure.worldSize()).isEqualTo(4);
		assertThat(failure.group()).isEqualTo("world");
		assertThat(failure.source()).isZero();
		assertThat(failure.bytes()).isEqualTo(40);
	}

	@Test
	void aMissingBackendCarriesTheRankThatMissesIt() {
		BackendUnavailableException early = new BackendUnavailableException("nccl", "no device", "Add one");
		assertThat(early.rank()).isEqualTo(-1);
		BackendUnavailableException late = early.onRank(2, 4);
		assertThat(late).hasMessage("rank 2: backend nccl is not available: no device. Add one").hasCause(early);
		assertThat(late.rank()).isEqualTo(2);
		assertThat(late.worldSize()).isEqualTo(4);
		assertThat(late.onRank(3, 4)).isSameAs(late);
	}

	private static <T> T copyOf(T original) throws IOException, ClassNotFoundException {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
			out.writeObject(original);
		}
		try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
			@SuppressWarnings("unchecked")
			T copy = (T) in.readObject();
			return copy;
		}
	}

}
