package io.tutti.benchmark.peer;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The fastest configurations of each peer: ranks are bound if this system's ranks are,
 * and each setting is tried that is known to be the fastest at some size. Every peer also
 * runs with an allocator that keeps freed memory. Gloo runs with it alone, since its
 * program measures all algorithms at once.
 */
final class PeerVariants {

	/** glibc keeps freed scratch memory, so that large calls do not fault it in again. */
	static final Map<String, String> KEEP_FREED_MEMORY = Map.of("MALLOC_MMAP_MAX_", "0", "MALLOC_TRIM_THRESHOLD_",
			"4294967296");

	private static final String OPEN_MPI_TCP = "--mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include lo"
			+ " --mca coll ^sm,han,adapt";

	private static final String OPEN_MPI_UCX = "--mca pml ucx --mca pml_ucx_tls any --mca pml_ucx_devices any";

	private static final Map<String, String> UCX = Map.of("UCX_TLS", "posix,cma,self");

	private static final Map<String, String> MPICH_TCP = Map.of("MPIR_CVAR_NOLOCAL", "1", "UCX_TLS", "tcp,self",
			"UCX_NET_DEVICES", "lo");

	private final int ranks;

	private final boolean bound;

	private final boolean root;

	/**
	 * Variants for a world.
	 * @param bound whether each rank is bound to a core
	 * @param root whether the user is root, which Open MPI rejects without an option
	 */
	PeerVariants(int ranks, boolean bound, boolean root) {
		this.ranks = ranks;
		this.bound = bound;
		this.root = root;
	}

	List<PeerVariant> of(Peer peer, boolean sharedMemory) {
		return switch (peer) {
			case OPENMPI -> sharedMemory
					? List.of(openMpi("shm", "", Map.of()), openMpi("shm-keep", "", KEEP_FREED_MEMORY),
							openMpi("shm-ucx", OPEN_MPI_UCX, UCX),
							openMpi("shm-ucx-keep", OPEN_MPI_UCX, keepingFreedMemory(UCX)))
					: List.of(openMpi("tcp", OPEN_MPI_TCP, Map.of()),
							openMpi("tcp-keep", OPEN_MPI_TCP, KEEP_FREED_MEMORY));
			case MPICH -> sharedMemory ? List.of(mpich("shm", Map.of()), mpich("shm-keep", KEEP_FREED_MEMORY))
					: List.of(mpich("tcp", MPICH_TCP), mpich("tcp-keep", keepingFreedMemory(MPICH_TCP)));
			case GLOO -> sharedMemory ? List.of() : List.of(new PeerVariant("tcp", List.of(),
					List.of(String.valueOf(this.ranks), this.bound ? "core" : "none"), KEEP_FREED_MEMORY));
		};
	}

	private static Map<String, String> keepingFreedMemory(Map<String, String> settings) {
		Map<String, String> both = new HashMap<>(settings);
		both.putAll(KEEP_FREED_MEMORY);
		return both;
	}

	/**
	 * Open MPI counts physical cores as slots unless it is told to count hardware
	 * threads, as this system does. It then maps two ranks to one core first, hence the
	 * mapping by core.
	 */
	private PeerVariant openMpi(String name, String settings, Map<String, String> environment) {
		List<String> launcher = new ArrayList<>(
				List.of("mpirun.openmpi", "-np", String.valueOf(this.ranks), "--use-hwthread-cpus"));
		if (this.root) {
			launcher.add("--allow-run-as-root");
		}
		launcher.addAll(this.bound ? List.of("--map-by", "core", "--bind-to", "core")
				: List.of("--oversubscribe", "--bind-to", "none"));
		if (!settings.isEmpty()) {
			launcher.addAll(List.of(settings.split(" ")));
		}
		return new PeerVariant(name, launcher, List.of(name), environment);
	}

	private PeerVariant mpich(String name, Map<String, String> environment) {
		List<String> launcher = new ArrayList<>(List.of("mpirun.mpich", "-np", String.valueOf(this.ranks)));
		if (this.bound) {
			launcher.addAll(List.of("-bind-to", "core"));
		}
		return new PeerVariant(name, launcher, List.of(name), environment);
	}

}
