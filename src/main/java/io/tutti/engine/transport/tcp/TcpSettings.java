package io.tutti.engine.transport.tcp;

import java.time.Duration;

import io.tutti.engine.tls.Tls;
import org.jspecify.annotations.Nullable;

/**
 * How data connections are made.
 *
 * @param congestionControl algorithm for connections inside one host, {@code system} for
 * the kernel's own
 * @param connect how long connecting to a rank that listens may take
 * @param heartbeat how long a peer's host may be silent
 * @param oversubscribed whether this host has fewer cores than ranks
 * @param tls encrypts data connections, {@code null} for plain TCP
 */
public record TcpSettings(String congestionControl, Duration connect, Duration heartbeat, boolean oversubscribed,
		@Nullable Tls tls) {

	/** The same with the kernel's congestion control. */
	public TcpSettings withSystemCongestionControl() {
		return new TcpSettings(CongestionControl.SYSTEM, this.connect, this.heartbeat, this.oversubscribed, this.tls);
	}

}
