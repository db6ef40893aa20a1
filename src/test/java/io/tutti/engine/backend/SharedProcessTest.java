package io.tutti.engine.backend;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import io.tutti.CollectiveException;
import io.tutti.CollectiveTimeoutException;
import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.transport.shm.SocketExchange;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Two processes share memory: this one is rank 0.
 */
@Timeout(60)
class SharedProcessTest {

	private static final int ELEMENTS = 500_000;

	private ServerSocket server;

	private Process peer;

	@BeforeEach
	void startThePeer() throws IOException {
		this.server = SharedRank.listen();
		this.peer = SharedRank.start(SharedProcessTest.class, this.server, 2, false, List.of()).get(0);
	}

	@AfterEach
	void endThePeer() throws Exception {
		this.peer.destroyForcibly().waitFor();
		this.server.close();
	}

	/** Rank 1: takes part in rank 0's calls until it is killed. */
	public static void main(String[] arguments) throws Exception {
		try (SocketExchange exchange = SocketExchange.join(Integer.parseInt(arguments[2]), 1);
				ProcessGroup group = SharedRank.group(1, 2, exchange);
				Arena arena = Arena.ofConfined()) {
			reduce(group, arena.allocate(4L * ELEMENTS, 64));
			reduce(group, group.allocate(4L * ELEMENTS));
			System.out.write('1');
			System.out.flush();
			while (true) {
				group.barrier();
			}
		}
	}

	private static void reduce(ProcessGroup group, MemorySegment buffer) {
		for (long count : new long[] { 1, 1000, ELEMENTS }) {
			for (long i = 0; i < count; i++) {
				buffer.setAtIndex(ValueLayout.JAVA_INT, i, (int) i * (group.rank() + 1));
			}
			group.allReduce(buffer.asSlice(0, 4 * count), DataType.INT32, ReduceOp.SUM);
			for (long i = 0; i < count; i++) {
				if (buffer.getAtIndex(ValueLayout.JAVA_INT, i) != (int) i * 3) {
					throw new AssertionError("element " + i + " of " + count + " is wrong");
				}
			}
		}
	}

	private static List<Path> left(long pid) throws IOException {
		try (Stream<Path> files = Files.list(Path.of("/dev/shm"))) {
			return files.filter((file) -> file.getFileName().toString().startsWith("tutti-"))
				.filter((file) -> file.getFileName().toString().contains("-" + pid + "-"))
				.toList();
		}
	}

	@Test
	void aKilledPeerLeavesNoFileAndIsDetectedByTheDeadline() throws Exception {
		try (SocketExchange exchange = SocketExchange.host(this.server, 2);
				ProcessGroup group = SharedRank.group(0, 2, exchange);
				Arena arena = Arena.ofConfined();
				InputStream ready = this.peer.getInputStream()) {
			reduce(group, arena.allocate(4L * ELEMENTS, 64));
			MemorySegment buffer = group.allocate(4L * ELEMENTS);
			reduce(group, buffer);
			assertThat(ready.read()).isEqualTo('1');
			for (int i = 0; i < 1000; i++) {
				group.barrier();
			}
			this.peer.destroyForcibly().waitFor();
			assertThat(left(this.peer.pid())).isEmpty();
			assertThat(left(ProcessHandle.current().pid())).isEmpty();
			assertThatThrownBy(() -> {
				while (true) {
					group.withTimeout(Duration.ofMillis(300)).barrier();
				}
			}).isInstanceOf(CollectiveTimeoutException.class)
				.satisfies((ex) -> assertThat(((CollectiveException) ex).failure().ranks()).containsExactly(1));
			buffer.fill((byte) 1);
			assertThat(buffer.get(ValueLayout.JAVA_BYTE, 0)).as("the memory stays for this rank").isEqualTo((byte) 1);
		}
	}

}
