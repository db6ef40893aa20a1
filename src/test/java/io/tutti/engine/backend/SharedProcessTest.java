package io.tutti.engine.backend;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

import io.tutti.CollectiveException;
import io.tutti.CollectiveListener;
import io.tutti.CollectiveTimeoutException;
import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.Timeouts;
import io.tutti.engine.algorithm.AlgorithmOverrides;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.dispatch.DefaultProcessGroup;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.transport.shm.HostHandshake;
import io.tutti.engine.transport.shm.HostMemory;
import io.tutti.engine.transport.shm.SharedMemorySettings;
import io.tutti.engine.transport.shm.ShmTransport;
import io.tutti.engine.transport.shm.SocketExchange;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.util.FileSystemUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Two processes share memory: this one is rank 0.
 */
@Timeout(60)
class SharedProcessTest {

	private static final int ELEMENTS = 500_000;

	/** For the segments of this test only, since other tests run at the same time. */
	private Path directory;

	private ServerSocket server;

	private Process peer;

	@BeforeEach
	void startThePeer() throws IOException {
		this.directory = Files.createTempDirectory(SharedMemorySettings.DEFAULT_DIRECTORY, "processes-");
		this.server = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
		this.peer = new ProcessBuilder(System.getProperty("java.home") + "/bin/java", "-cp",
				System.getProperty("java.class.path"), "--add-modules", "jdk.incubator.vector",
				"--enable-native-access=ALL-UNNAMED", SharedProcessTest.class.getName(),
				Integer.toString(this.server.getLocalPort()), this.directory.toString())
			.redirectError(ProcessBuilder.Redirect.INHERIT)
			.start();
	}

	@AfterEach
	void endThePeer() throws Exception {
		this.peer.destroyForcibly().waitFor();
		this.server.close();
		FileSystemUtils.deleteRecursively(this.directory);
	}

	/** Rank 1: takes part in rank 0's calls until it is killed. */
	public static void main(String[] arguments) throws Exception {
		try (SocketExchange exchange = SocketExchange.join(Integer.parseInt(arguments[0]), 1);
				ProcessGroup group = group(1, exchange, Path.of(arguments[1]));
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

	/** The group over the memory that the exchange establishes. */
	private static ProcessGroup group(int rank, SocketExchange exchange, Path directory) throws IOException {
		GroupIdentity identity = GroupIdentity.world(rank, 2, 0);
		SharedMemorySettings settings = new SharedMemorySettings(directory, "processes");
		HostMemory memory = HostHandshake.establish(identity, exchange, settings, CollectiveListener.NONE,
				Deadline.after(Duration.ofSeconds(20)));
		if (memory == null) {
			throw new IOException("this machine offers no shared memory");
		}
		FailureLatch latch = new FailureLatch();
		ShmTransport transport = new ShmTransport(identity, latch, memory, settings, false, CollectiveListener.NONE);
		return new DefaultProcessGroup(identity,
				new SharedMemoryGroupBackend(Backends.TCP, identity, transport, ReductionKernels.get(),
						AlgorithmOverrides.NONE),
				latch, latch::trip, Timeouts.DEFAULTS.withCollective(Duration.ofSeconds(20)));
	}

	@Test
	void aKilledPeerLeavesNoFileAndIsDetectedByTheDeadline() throws Exception {
		try (SocketExchange exchange = SocketExchange.host(this.server, 2);
				ProcessGroup group = group(0, exchange, this.directory);
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
			assertThat(this.directory).isEmptyDirectory();
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
