package io.tutti.service.config;

import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.backend.TransportChoice;
import io.tutti.launch.Ports;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.StringUtils;

/**
 * Options of the data transport.
 *
 * @param port port for data connections, to which the local rank is added; 0 for an
 * ephemeral port
 * @param advertisedHost host that peers use to connect to this rank; by default the local
 * address of its connection to rank 0
 * @param congestionControl TCP congestion control for connections inside one host, if the
 * kernel supports it; {@code system} for the kernel's setting
 * @param kind transport of data: {@code auto} for shared memory where the ranks verify
 * that they share it and TCP otherwise, {@code tcp}, or {@code shm} to fail if two ranks
 * do not share memory; a group of one rank, which has nothing to share, reports
 * {@code tcp}
 * @param crossMemoryAttach whether ranks of one host read large buffers out of each
 * other's memory, with one copy, where the kernel permits it; off on one rank, it is off
 * for every group of that rank
 */
@ConfigurationProperties("tutti.transport")
public record TransportProperties(@DefaultValue("0") int port, @Nullable String advertisedHost,
		@DefaultValue("cubic") String congestionControl, @DefaultValue("auto") TransportChoice kind,
		@DefaultValue("true") boolean crossMemoryAttach) {

	public TransportProperties {
		Ports.require("data port", port);
		advertisedHost = StringUtils.hasText(advertisedHost)
				? EngineSettings.requireName("advertised host", advertisedHost) : null;
	}

}
