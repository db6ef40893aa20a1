package io.tutti.engine.backend;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import io.tutti.CollectiveListener;
import io.tutti.ProcessGroup;
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

/**
 * One rank of a group over shared memory in a separate process, and methods to start such
 * processes.
 */
final class SharedRank {

	private static final SharedMemorySettings SETTINGS = SharedMemorySettings.of("processes");

	private SharedRank() {
	}

	/**
	 * Starts a main class for ranks 1 and up, with the rank, the world size and the port
	 * as arguments.
	 */
	static List<Process> start(Class<?> main, ServerSocket server, int worldSize, boolean pinned,
			List<String> arguments) throws IOException {
		List<Process> processes = new ArrayList<>();
		int cores = cores();
		for (int rank = 1; rank < worldSize; rank++) {
			List<String> command = new ArrayList<>(
					pinned ? List.of("taskset", "-c", Integer.toString(rank % cores)) : List.of());
			command.addAll(List.of(System.getProperty("java.home") + "/bin/java", "-cp",
					System.getProperty("java.class.path"), "--add-modules", "jdk.incubator.vector",
					"--enable-native-access=ALL-UNNAMED", main.getName(), Integer.toString(rank),
					Integer.toString(worldSize), Integer.toString(server.getLocalPort())));
			command.addAll(arguments);
			processes.add(new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
		}
		return processes;
	}

	/** Cores of the machine; this process is pinned to one of them. */
	private static int cores() throws IOException {
		try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
			return Math.max(1, (int) lines.filter((line) -> line.startsWith("processor")).count());
		}
	}

	static ServerSocket listen() throws IOException {
		return new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
	}

	/** The group over the memory that the exchange establishes. */
	static ProcessGroup group(int rank, int worldSize, SocketExchange exchange) throws IOException {
		GroupIdentity identity = GroupIdentity.world(rank, worldSize, 0);
		HostMemory memory = HostHandshake.establish(identity, exchange, SETTINGS, CollectiveListener.NONE,
				Deadline.after(Duration.ofSeconds(20)));
		if (memory == null) {
			throw new IOException("this machine offers no shared memory");
		}
		FailureLatch latch = new FailureLatch();
		boolean oversubscribed = worldSize > cores();
		ShmTransport transport = new ShmTransport(identity, latch, memory, SETTINGS, oversubscribed,
				CollectiveListener.NONE);
		return new DefaultProcessGroup(identity,
				new SharedMemoryGroupBackend(Backends.TCP, identity, transport, ReductionKernels.get(),
						AlgorithmOverrides.NONE),
				latch, latch::trip, Timeouts.DEFAULTS.withCollective(Duration.ofSeconds(20)));
	}

}
