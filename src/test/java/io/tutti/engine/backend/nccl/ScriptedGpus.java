package io.tutti.engine.backend.nccl;

import java.util.concurrent.CountDownLatch;

import io.tutti.BackendUnavailableException;

/**
 * Simulated GPUs and NCCL for tests of other packages.
 */
public final class ScriptedGpus {

	private final HostDevices devices;

	private final ScriptedNccl nccl;

	/** Devices of one host, whose ranks are threads of this process. */
	public ScriptedGpus(int devices) {
		this.devices = new HostDevices(devices);
		this.nccl = new ScriptedNccl(this.devices);
	}

	/** The devices. */
	public HostDevices devices() {
		return this.devices;
	}

	/** Communicator setup of a rank that has NCCL. */
	public NcclBootstrap bootstrap(int localRank) {
		return new NcclBootstrap(this.nccl::library, localRank);
	}

	/** Communicator setup of a rank without NCCL. */
	public static NcclBootstrap without(String problem) {
		return new NcclBootstrap(() -> {
			throw new BackendUnavailableException(NcclGroupBackend.NAME, problem, "Install it");
		}, 0);
	}

	/** A failed call on a rank. */
	public static NcclException failureOn(int rank, int worldSize) {
		return NcclException.error(new RankPlacement(rank, worldSize, 0), "all-reduce", NcclResult.SYSTEM_ERROR,
				"no route to host");
	}

	/** Makes mismatched calls complete from now on. */
	public void forgive() {
		this.nccl.forgiving = true;
	}

	/** Makes every NCCL call with a name block until the latch is released. */
	public void block(String name, CountDownLatch latch) {
		this.nccl.blocks(name, latch);
	}

	/** Number of NCCL calls with a name, such as {@code commAbort}. */
	public long calls(String name) {
		return this.nccl.count(name);
	}

}
