package io.tutti.service.config;

import io.tutti.engine.backend.TransportChoice;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Options of the data transport.
 *
 * @param port port for data connections, to which the local rank is added; 0 for the
 * kernel's choice
 * @param advertisedHost host that peers use to reach this rank, by default the local end
 * of its connection to rank 0
 * @param congestionControl TCP congestion control for connections inside one host, where
 * the kernel offers it; {@code system} to leave it alone
 * @param kind what may carry data: {@code auto} for shared memory where every rank proves
 * to see the same and TCP otherwise, {@code tcp}, or {@code shm} for shared memory or
 * nothing
 */
@ConfigurationProperties("tutti.transport")
public record TransportProperties(@DefaultValue("0") int port, @Nullable String advertisedHost,
		@DefaultValue("cubic") String congestionControl, @DefaultValue("auto") TransportChoice kind) {

	public TransportProperties {
		Ports.require("data port", port);
	}

}
