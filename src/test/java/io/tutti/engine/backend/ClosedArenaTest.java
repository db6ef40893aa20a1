package io.tutti.engine.backend;

import java.io.File;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.tutti.CollectiveException;
import io.tutti.CollectiveTimeoutException;
import io.tutti.DataType;
import io.tutti.GroupAbortedException;
import io.tutti.Message;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.Work;
import io.tutti.engine.backend.AsyncCallTest.Connection;
import io.tutti.engine.backend.CollectivesContract.World;
import io.tutti.engine.transport.CallWait;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * An arena is closed while a call still needs its memory. Tests that may crash a JVM run
 * in a separate process.
 */
@Timeout(120)
class ClosedArenaTest {

	private static final Duration LIMIT = Duration.ofSeconds(60);

	private static final long BYTES = 64 << 20;

	/** Two ranks, one of which closes its arena while the other has not called yet. */
	public static void main(String[] arguments) throws Exception {
		try (World world = Connection.valueOf(arguments[0]).world(2); Arena arena = Arena.ofShared()) {
			ProcessGroup group = world.group(0);
			MemorySegment other = Arena.global().allocate(BYTES, 64);
			Work<Void> call = group.allReduceAsync(arena.allocate(BYTES, 64), DataType.FLOAT32, ReduceOp.SUM);
			while (group.lastEntered() < 0) {
				Thread.onSpinWait();
			}
			call.toFuture().cancel(true);
			String outcome = closed(arena) ? "closed" : "refused";
			world.group(1).allReduce(other, DataType.FLOAT32, ReduceOp.SUM);
			call.await();
			System.out.println(outcome);
		}
	}

	private static boolean closed(Arena arena) {
		try {
			arena.close();
			return true;
		}
		catch (IllegalStateException ex) {
			return false;
		}
	}

	@ParameterizedTest
	@EnumSource
	void anArenaStaysOpenDuringAnAsynchronousCall(Connection connection, @TempDir Path directory) throws Exception {
		File output = directory.resolve("output").toFile();
		Process process = new ProcessBuilder(System.getProperty("java.home") + "/bin/java", "-cp",
				System.getProperty("java.class.path"), "--add-modules", "jdk.incubator.vector",
				"--enable-native-access=ALL-UNNAMED", "-XX:-CreateCoredumpOnCrash",
				"-XX:ErrorFile=" + directory.resolve("crash"), ClosedArenaTest.class.getName(), connection.name())
			.redirectErrorStream(true)
			.redirectOutput(output)
			.start();
		try {
			assertThat(process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
			assertThat(process.exitValue()).describedAs("exit code, with the output %s", contentOf(output)).isZero();
			assertThat(contentOf(output)).contains("refused");
		}
		finally {
			process.destroyForcibly().waitFor();
		}
	}

	private static String contentOf(File file) throws Exception {
		return java.nio.file.Files.readString(file.toPath());
	}

	/**
	 * Other memory may come to the address of the closed buffer, and must not be sent.
	 * The error must not name the peer.
	 */
	@Test
	void aSynchronousCallNamesItsOwnClosedBufferAndNotThePeer() throws Exception {
		Arena arena = Arena.ofShared();
		try (World world = Worlds.tcp(2)) {
			MemorySegment other = Arena.ofAuto().allocate(BYTES, 64);
			MemorySegment buffer = arena.allocate(BYTES, 64);
			CompletableFuture<Void> call = new CompletableFuture<>();
			Thread caller = Thread.ofPlatform()
				.start(() -> call.completeAsync(() -> broadcast(world.group(0), buffer), Runnable::run));
			while (!isAsleepInACall(caller)) {
				Thread.onSpinWait();
			}
			arena.close();
			MemorySegment next = Arena.global().allocate(BYTES, 64);
			assertThatThrownBy(() -> world.group(1).broadcast(other, DataType.INT8, 0))
				.isInstanceOf(GroupAbortedException.class)
				.hasMessageContaining("by rank 0")
				.hasMessageContaining("buffer was closed");
			assertThat(call).failsWithin(LIMIT)
				.withThrowableThat()
				.withCauseInstanceOf(GroupAbortedException.class)
				.withMessageContaining("buffer was closed")
				.withMessageContaining("broadcast #0")
				.withStackTraceContaining("Caused by: java.lang.IllegalStateException: buffer was closed");
			assertThat(next.byteSize()).isEqualTo(BYTES);
		}
	}

	private static Void broadcast(ProcessGroup group, MemorySegment buffer) {
		group.broadcast(buffer, DataType.INT8, 0);
		return null;
	}

	/**
	 * Whether a thread waits for its peer: it has copied the first bytes of its buffer.
	 */
	private static boolean isAsleepInACall(Thread caller) {
		return Arrays.stream(caller.getStackTrace())
			.anyMatch((frame) -> frame.getClassName().equals(CallWait.class.getName())
					&& frame.getMethodName().equals("sleep"));
	}

	@ParameterizedTest
	@EnumSource
	void onlyTheReceiveFailsWhenItsBufferIsClosed(Connection connection) throws Exception {
		for (int bytes : new int[] { 100, 1_000_000 }) {
			try (World world = connection.world(2)) {
				CompletableFuture<Message> coming;
				try (Arena arena = Arena.ofShared()) {
					coming = world.group(0).receiveAsync(arena.allocate(bytes), DataType.INT8, 1, 5).toFuture();
				}
				world.group(1).send(MemorySegment.ofArray(new byte[bytes]), DataType.INT8, 0, 5);
				assertThat(coming).failsWithin(LIMIT)
					.withThrowableThat()
					.withCauseInstanceOf(IllegalStateException.class)
					.withMessageContaining("buffer was closed")
					.withMessageContaining("rank 1")
					.withMessageContaining("tag 5");
				world.group(1).send(MemorySegment.ofArray(new byte[] { 9 }), DataType.INT8, 0, 5);
				byte[] next = new byte[1];
				world.group(0).receive(MemorySegment.ofArray(next), DataType.INT8, 1, 5);
				assertThat(next).containsExactly((byte) 9);
			}
		}
	}

	@Test
	void aSendToItselfFailsWhenItsBufferIsClosedAndLaterOnesArrive() throws Exception {
		try (World world = Worlds.simulated(1)) {
			CompletableFuture<Void> going;
			try (Arena arena = Arena.ofShared()) {
				going = world.group(0).sendAsync(arena.allocate(1_000_000), DataType.INT8, 0, 5).toFuture();
			}
			world.group(0).send(MemorySegment.ofArray(new byte[] { 9 }), DataType.INT8, 0, 5);
			byte[] next = new byte[1];
			world.group(0).receive(MemorySegment.ofArray(next), DataType.INT8, 0, 5);
			assertThat(next).containsExactly((byte) 9);
			assertThat(going).failsWithin(LIMIT)
				.withThrowableThat()
				.withCauseInstanceOf(IllegalStateException.class)
				.withMessageContaining("buffer of a send to rank 0 with tag 5");
		}
	}

	@Test
	void aSendReceiveWhoseSendFailsAloneTakesNoLaterMessage() throws Exception {
		try (World world = Worlds.simulated(2)) {
			byte[] failed = new byte[1];
			CompletableFuture<Long> call = new CompletableFuture<>();
			try (Arena arena = Arena.ofShared()) {
				MemorySegment closed = arena.allocate(1_000_000);
				Thread caller = Thread.ofPlatform()
					.start(() -> call.completeAsync(
							() -> world.group(0)
								.sendReceive(closed, 0, MemorySegment.ofArray(failed), 1, DataType.INT8, 5),
							Runnable::run));
				while (caller.getState() != Thread.State.TIMED_WAITING) {
					Thread.onSpinWait();
				}
			}
			assertThatThrownBy(() -> world.group(0)
				.withTimeout(Duration.ofMillis(200))
				.receive(MemorySegment.ofArray(new byte[1_000_000]), DataType.INT8, 0, 5))
				.isInstanceOf(CollectiveTimeoutException.class);
			assertThat(call).failsWithin(LIMIT)
				.withThrowableThat()
				.withCauseInstanceOf(IllegalStateException.class)
				.withMessageContaining("buffer of a send to rank 0 with tag 5");
			world.group(1).send(MemorySegment.ofArray(new byte[] { 9 }), DataType.INT8, 0, 5);
			byte[] next = new byte[1];
			world.group(0).receive(MemorySegment.ofArray(next), DataType.INT8, 1, 5);
			assertThat(next).containsExactly((byte) 9);
			assertThat(failed).containsExactly((byte) 0);
		}
	}

	@ParameterizedTest
	@EnumSource
	void aSendWhoseBufferIsClosedNamesItsOwnRank(Connection connection) throws Exception {
		try (World world = connection.world(2)) {
			MemorySegment other = Arena.ofAuto().allocate(BYTES, 64);
			CompletableFuture<Void> going;
			try (Arena arena = Arena.ofShared()) {
				going = world.group(0).sendAsync(arena.allocate(BYTES, 64), DataType.INT8, 1, 5).toFuture();
			}
			assertThatThrownBy(() -> world.group(1).receive(other, DataType.INT8, 0, 5))
				.isInstanceOf(GroupAbortedException.class)
				.hasMessageContaining("by rank 0")
				.hasMessageContaining("was closed: keep its arena open");
			assertThat(going).failsWithin(LIMIT)
				.withThrowableThat()
				.withCauseInstanceOf(CollectiveException.class)
				.withMessageContaining("was closed: keep its arena open");
		}
	}

}
