package io.tutti.engine.backend;

import io.tutti.engine.Timeouts;
import io.tutti.engine.tls.Tls;
import org.jspecify.annotations.Nullable;

/**
 * How a rank joins its group.
 *
 * @param backend name of the backend, one of {@link Backends#names()}
 * @param jobId name of the job; ranks of another job are refused
 * @param token shared secret of the job, {@code null} for none; never logged
 * @param generation which forming of the group this is, -1 to accept rank 0's
 * @param bindAddress where rank 0 listens, {@code null} for the meeting point's own
 * address
 * @param advertisedHost host that peers use for this rank's data connections,
 * {@code null} to find out
 * @param dataAddress address where data connections are accepted, {@code null} for
 * loopback if the ranks meet there and every address if not
 * @param dataPort port for data connections, 0 for the kernel's choice; the local rank is
 * added to a fixed one
 * @param congestionControl TCP congestion control for connections inside one host, where
 * the kernel offers it; {@code system} to leave it alone
 * @param conduct what all ranks do alike; rank 0's counts
 * @param timeouts how long each kind of wait may take
 * @param mpiLibrary the MPI library that the backend {@code mpi} runs on:
 * {@code openmpi}, {@code mpich} or a path; {@code null} for our own engine
 * @param tls how connections between ranks go in cipher, {@code null} if they go as they
 * are
 */
public record EngineSettings(String backend, String jobId, @Nullable String token, long generation,
		@Nullable String bindAddress, @Nullable String advertisedHost, @Nullable String dataAddress, int dataPort,
		String congestionControl, SharedConfig conduct, Timeouts timeouts, @Nullable String mpiLibrary,
		@Nullable Tls tls) {

	/** The defaults that the documentation names. */
	public static final EngineSettings DEFAULTS = new EngineSettings(Backends.TCP, "default", null, -1, null, null,
			null, 0, "cubic", SharedConfig.DEFAULT, Timeouts.DEFAULTS, null);

	public EngineSettings {
		if (dataPort < 0 || dataPort > 65535) {
			throw new IllegalArgumentException("data port must be in 0..65535, got " + dataPort);
		}
	}

	/** Settings of ranks whose connections go as they are. */
	public EngineSettings(String backend, String jobId, @Nullable String token, long generation,
			@Nullable String bindAddress, @Nullable String advertisedHost, @Nullable String dataAddress, int dataPort,
			String congestionControl, SharedConfig conduct, Timeouts timeouts, @Nullable String mpiLibrary) {
		this(backend, jobId, token, generation, bindAddress, advertisedHost, dataAddress, dataPort, congestionControl,
				conduct, timeouts, mpiLibrary, null);
	}

	/** The same with connections in cipher. */
	public EngineSettings withTls(@Nullable Tls spoken) {
		return new EngineSettings(this.backend, this.jobId, this.token, this.generation, this.bindAddress,
				this.advertisedHost, this.dataAddress, this.dataPort, this.congestionControl, this.conduct,
				this.timeouts, this.mpiLibrary, spoken);
	}

	/**
	 * The same with another backend, and with the MPI library that it runs on, if any.
	 */
	public EngineSettings withBackend(String name, @Nullable String library) {
		return new EngineSettings(name, this.jobId, this.token, this.generation, this.bindAddress, this.advertisedHost,
				this.dataAddress, this.dataPort, this.congestionControl, this.conduct, this.timeouts, library,
				this.tls);
	}

	/** The same with another token. */
	EngineSettings withToken(String secret) {
		return new EngineSettings(this.backend, this.jobId, secret, this.generation, this.bindAddress,
				this.advertisedHost, this.dataAddress, this.dataPort, this.congestionControl, this.conduct,
				this.timeouts, this.mpiLibrary, this.tls);
	}

	@Override
	public String toString() {
		return "EngineSettings[backend=" + this.backend + ", jobId=" + this.jobId + ", token="
				+ ((this.token != null) ? "hidden" : "none") + ", generation=" + this.generation + "]";
	}

}
