package io.tutti.engine.backend;

import io.tutti.engine.Timeouts;
import io.tutti.engine.tls.Tls;
import org.jspecify.annotations.Nullable;

/**
 * Settings with which a rank joins its group.
 *
 * @param backend name of the backend, one of {@link Backends#names()}
 * @param jobId name of the job; ranks of another job are rejected
 * @param token shared secret of the job, {@code null} for none; never logged
 * @param generation generation of the job, -1 to accept rank 0's
 * @param bindAddress address on which rank 0 listens, {@code null} for the rendezvous
 * address
 * @param advertisedHost host that peers use for this rank's data connections,
 * {@code null} for detection
 * @param dataAddress address where data connections are accepted, {@code null} for
 * loopback if the rendezvous address is loopback, otherwise for every address
 * @param dataPort port of this rank for data connections, 0 for the kernel's choice
 * @param congestionControl TCP congestion control for connections within one host, if the
 * kernel offers it; {@code system} to keep the default
 * @param sharedConfig settings that must be the same on all ranks; rank 0's apply
 * @param timeouts how long each kind of wait may take
 * @param mpiLibrary the MPI library that the backend {@code mpi} runs on:
 * {@code openmpi}, {@code mpich} or a path; {@code null} for the built-in engine
 * @param tls TLS for connections between ranks, {@code null} for plain TCP
 */
public record EngineSettings(String backend, String jobId, @Nullable String token, long generation,
		@Nullable String bindAddress, @Nullable String advertisedHost, @Nullable String dataAddress, int dataPort,
		String congestionControl, SharedConfig sharedConfig, Timeouts timeouts, @Nullable String mpiLibrary,
		@Nullable Tls tls) {

	/** The documented defaults. */
	public static final EngineSettings DEFAULTS = new EngineSettings(Backends.TCP, "default", null, -1, null, null,
			null, 0, "cubic", SharedConfig.DEFAULT, Timeouts.DEFAULTS, null);

	/** Most characters of a job id and of the name of a host. */
	public static final int MAX_NAME_CHARACTERS = 256;

	public EngineSettings {
		if (dataPort < 0 || dataPort > 65535) {
			throw new IllegalArgumentException("data port must be in 0..65535, got " + dataPort);
		}
	}

	/** Settings without TLS. */
	public EngineSettings(String backend, String jobId, @Nullable String token, long generation,
			@Nullable String bindAddress, @Nullable String advertisedHost, @Nullable String dataAddress, int dataPort,
			String congestionControl, SharedConfig sharedConfig, Timeouts timeouts, @Nullable String mpiLibrary) {
		this(backend, jobId, token, generation, bindAddress, advertisedHost, dataAddress, dataPort, congestionControl,
				sharedConfig, timeouts, mpiLibrary, null);
	}

	/**
	 * Checks a job id or the name of a host.
	 * @param name what it is, for the error message
	 * @throws IllegalArgumentException if it is blank or too long for a rendezvous
	 */
	public static String requireName(String name, String text) {
		if (text.isBlank()) {
			throw new IllegalArgumentException(name + " must not be blank");
		}
		if (text.length() > MAX_NAME_CHARACTERS) {
			throw new IllegalArgumentException(
					name + " must have at most " + MAX_NAME_CHARACTERS + " characters, got " + text.length());
		}
		return text;
	}

	/** The same settings with another backend and its MPI library, if any. */
	public EngineSettings withBackend(String name, @Nullable String library) {
		return new EngineSettings(name, this.jobId, this.token, this.generation, this.bindAddress, this.advertisedHost,
				this.dataAddress, this.dataPort, this.congestionControl, this.sharedConfig, this.timeouts, library,
				this.tls);
	}

	/** The same settings for another job and generation. */
	public EngineSettings withJob(String id, long number) {
		return new EngineSettings(this.backend, id, this.token, number, this.bindAddress, this.advertisedHost,
				this.dataAddress, this.dataPort, this.congestionControl, this.sharedConfig, this.timeouts,
				this.mpiLibrary, this.tls);
	}

	/**
	 * The same settings with another token.
	 * @param secret the token, {@code null} for none
	 */
	public EngineSettings withToken(@Nullable String secret) {
		return new EngineSettings(this.backend, this.jobId, secret, this.generation, this.bindAddress,
				this.advertisedHost, this.dataAddress, this.dataPort, this.congestionControl, this.sharedConfig,
				this.timeouts, this.mpiLibrary, this.tls);
	}

	@Override
	public String toString() {
		return "EngineSettings[backend=" + this.backend + ", jobId=" + this.jobId + ", token="
				+ ((this.token != null) ? "hidden" : "none") + ", generation=" + this.generation + "]";
	}

}
