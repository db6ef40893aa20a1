package io.tutti.service.config;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.Name;

/**
 * Selects the network interface for data connections.
 *
 * @param wanted the interface: its name ({@code eth0}), a prefix of the name
 * ({@code eth}) or the network of its address ({@code 10.1.0.0/16}, {@code fd00::/8}); by
 * default data connections are accepted on every interface, and a rank advertises its
 * local address of the connection to rank 0
 */
@ConfigurationProperties("tutti.network")
public record NetworkProperties(@Name("interface") @Nullable String wanted) {

	public NetworkProperties {
		if (wanted != null && wanted.isBlank()) {
			throw new IllegalArgumentException(
					"interface must be a name, a prefix of names or a network such as" + " 10.1.0.0/16, got a blank");
		}
		if (wanted != null && wanted.contains("/")) {
			Subnet.parse(wanted);
		}
	}

}
