package io.tutti.engine.backend.nccl;

import io.tutti.engine.BackendUnavailableException;

/**
 * GPUs and an NCCL for tests of what stands above them.
 */
public final class ScriptedGpus {

	private final HostDevices devices;

	private final ScriptedNccl nccl;

	/** Some devices of one host, whose ranks are threads of this process. */
	public ScriptedGpus(int devices) {
		this.devices = new HostDevices(devices);
		this.nccl = new ScriptedNccl(this.devices);
	}

	/** The devices. */
	public HostDevices devices() {
		return this.devices;
	}

	/** How a rank that has NCCL comes to its communicator. */
	public NcclMeeting meeting(int localRank) {
		return new NcclMeeting(this.nccl::library, localRank);
	}

	/** How a rank without NCCL says so. */
	public static NcclMeeting without(String problem) {
		return new NcclMeeting(() -> {
			throw new BackendUnavailableException(NcclBackend.NAME, problem, "Install it");
		}, 0);
	}

	/** From now on calls that do not fit together come to an end all the same. */
	public void forgive() {
		this.nccl.forgiving = true;
	}

	/** How often NCCL was called by a name, such as {@code commAbort}. */
	public long calls(String name) {
		return this.nccl.count(name);
	}

}
