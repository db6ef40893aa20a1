package io.tutti.probe;

import java.io.IOException;
import java.net.URI;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.Map;

/**
 * Whether the rank in this container is alive, by its own liveness endpoint. Exit code 0
 * if it is, 1 if it is not or does not answer in time. An argument names another endpoint
 * to ask, such as {@code readiness}. Where HTTP is in cipher it asks over HTTPS; where
 * the actuator has a port of its own, there.
 */
public final class HealthProbe {

	static final String ADDRESS_VARIABLE = "TUTTI_HTTP_ADDRESS";

	static final String PORT_VARIABLE = "TUTTI_HTTP_PORT";

	static final String ACTUATOR_PORT_VARIABLE = "MANAGEMENT_SERVER_PORT";

	private static final Duration TIMEOUT = Duration.ofSeconds(3);

	private static final int OK = 200;

	/** A server that speaks TLS says so to who does not. */
	private static final int BAD_REQUEST = 400;

	private HealthProbe() {
	}

	/** Asks once and exits. */
	public static void main(String[] args) {
		URI endpoint = endpoint(System.getenv(), (args.length > 0) ? args[0] : "liveness");
		System.exit(healthy(endpoint) ? 0 : 1);
	}

	/** Where the rank of this container answers. */
	static URI endpoint(Map<String, String> environment, String kind) {
		String host = host(environment.getOrDefault(ADDRESS_VARIABLE, ""));
		String port = environment.getOrDefault(ACTUATOR_PORT_VARIABLE, environment.getOrDefault(PORT_VARIABLE, "8080"));
		return URI.create("http://" + host + ":" + port + "/actuator/health/" + kind);
	}

	/**
	 * Whether an endpoint says that all is well; says on stderr why not. Over HTTPS
	 * whoever answers is believed: it is this host's own rank, and is told nothing.
	 */
	static boolean healthy(URI endpoint) {
		boolean secured = endpoint.getScheme().equals("https");
		try {
			HttpAnswer answer = HttpAnswer.of(endpoint, secured ? Trust.inThisHost() : Trust.JAVAS_OWN, TIMEOUT);
			if (answer.status() == OK) {
				return true;
			}
			if (answer.status() == BAD_REQUEST && !secured) {
				return healthy(secured(endpoint));
			}
			System.err.println(endpoint + " answered " + answer.status() + ": " + answer.body());
		}
		catch (IOException | GeneralSecurityException ex) {
			System.err.println(endpoint + " did not answer: " + ex.getMessage());
		}
		return false;
	}

	static URI secured(URI endpoint) {
		return URI.create("https" + endpoint.toString().substring("http".length()));
	}

	/** The wildcard address is no destination; loopback is behind it. */
	private static String host(String address) {
		if (address.isBlank() || address.equals("0.0.0.0")) {
			return "127.0.0.1";
		}
		if (address.equals("::")) {
			return "[::1]";
		}
		return address.contains(":") ? "[" + address + "]" : address;
	}

}
