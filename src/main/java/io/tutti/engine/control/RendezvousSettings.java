package io.tutti.engine.control;

import java.time.Duration;

import io.tutti.engine.tls.Tls;
import org.jspecify.annotations.Nullable;

/**
 * What a rank brings to the meeting besides who it is.
 *
 * @param jobId name of the job; ranks of another job are refused
 * @param token shared secret of the job, {@code null} for none; never logged
 * @param generation which forming this is, -1 to accept rank 0's; on rank 0 -1 means 0
 * @param bindAddress where rank 0 listens; {@code null} for the meeting point's own
 * address
 * @param advertisedHost host that peers should use for this rank's data connections,
 * {@code null} for the local end of its connection to rank 0
 * @param dataPort port where this rank accepts data connections
 * @param heartbeat silence after which a rank counts as lost
 * @param verdict how long rank 0 asks around before it gives a verdict
 * @param conduct what all ranks are to do alike, in words that only they understand; rank
 * 0's counts
 * @param tls how connections to rank 0 go in cipher, {@code null} if they go as they are
 */
public record RendezvousSettings(String jobId, @Nullable String token, long generation, @Nullable String bindAddress,
		@Nullable String advertisedHost, int dataPort, Duration heartbeat, Duration verdict, String conduct,
		@Nullable Tls tls) {

	/** Settings of ranks that need not agree on anything. */
	public RendezvousSettings(String jobId, @Nullable String token, long generation, @Nullable String bindAddress,
			@Nullable String advertisedHost, int dataPort, Duration heartbeat, Duration verdict) {
		this(jobId, token, generation, bindAddress, advertisedHost, dataPort, heartbeat, verdict, "", null);
	}

	@Override
	public String toString() {
		return "RendezvousSettings[jobId=" + this.jobId + ", token=" + ((this.token != null) ? "hidden" : "none")
				+ ", generation=" + this.generation + ", dataPort=" + this.dataPort + ", tls=" + this.tls + "]";
	}

}
