package io.tutti.engine.control;

import java.time.Duration;

import io.tutti.engine.tls.Tls;
import org.jspecify.annotations.Nullable;

/**
 * A rank's settings for rendezvous.
 *
 * @param jobId name of the job; ranks of another job are refused
 * @param token shared secret of the job, {@code null} for none; never logged
 * @param generation the generation of the group, -1 to accept rank 0's; on rank 0 -1
 * means 0
 * @param bindAddress where rank 0 listens; {@code null} for the rendezvous address
 * @param advertisedHost host that peers should use for this rank's data connections,
 * {@code null} for the local end of its connection to rank 0
 * @param dataPort port where this rank accepts data connections
 * @param heartbeat silence after which a rank counts as lost
 * @param verdict how long an inquiry of rank 0 may take before it gives a verdict
 * @param sharedConfig the configuration that all ranks share, opaque to the control
 * plane; rank 0's applies
 * @param tls TLS for connections to rank 0, {@code null} for plain TCP
 */
public record RendezvousSettings(String jobId, @Nullable String token, long generation, @Nullable String bindAddress,
		@Nullable String advertisedHost, int dataPort, Duration heartbeat, Duration verdict, String sharedConfig,
		@Nullable Tls tls) {

	@Override
	public String toString() {
		return "RendezvousSettings[jobId=" + this.jobId + ", token=" + ((this.token != null) ? "hidden" : "none")
				+ ", generation=" + this.generation + ", dataPort=" + this.dataPort + ", tls=" + this.tls + "]";
	}

}
