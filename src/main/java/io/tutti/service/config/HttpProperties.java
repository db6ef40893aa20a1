package io.tutti.service.config;

import java.net.InetAddress;
import java.util.List;
import java.util.regex.Pattern;

import io.tutti.launch.Ports;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Address, port, host names and path of HTTP, and who may change state over it.
 *
 * @param address address to bind, loopback by default
 * @param port port to which the local rank is added; 0 for an ephemeral port, as under
 * train and bench
 * @param allowedHosts allowed values of a request's {@code Host} header, besides
 * loopback, the address that accepted the connection and the advertised host: names,
 * addresses, and {@code *.example.org} for every name below a domain
 * @param basePath path of the REST interface
 * @param operatorRole role of the users that need no token for requests to the REST
 * interface that change state, in an application that authenticates users
 */
@ConfigurationProperties("tutti.http")
public record HttpProperties(@DefaultValue("127.0.0.1") InetAddress address, @DefaultValue("8080") int port,
		@DefaultValue List<String> allowedHosts, @DefaultValue("/api/v1") String basePath,
		@DefaultValue("TUTTI_OPERATOR") String operatorRole) {

	private static final Pattern BASE_PATH = Pattern.compile("(/[\\w.-]+)+");

	public HttpProperties {
		Ports.require("HTTP port", port);
		new AllowedHosts(allowedHosts);
		if (!BASE_PATH.matcher(basePath).matches()) {
			throw new IllegalArgumentException(
					"base path must be one or more names, each after a slash, as in /api/v1, got " + basePath);
		}
		if (operatorRole.isBlank()) {
			throw new IllegalArgumentException("operator role must not be blank");
		}
	}

	/** The HTTP port of the rank with this local rank. */
	int portOf(int localRank) {
		return Ports.plus("tutti.http.port", this.port, localRank);
	}

}
