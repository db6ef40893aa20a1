package io.tutti.probe;

import java.io.IOException;
import java.net.URI;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.Map;

/**
 * Checks the liveness endpoint of the rank in this container. Exit code 0 if the rank is
 * alive, 1 if it is not or does not answer in time. An argument selects another health
 * endpoint, such as {@code readiness}. Uses HTTPS if the server requires it, and the
 * actuator's own port if there is one.
 */
public final class HealthProbe {

	static final String ADDRESS_VARIABLE = "TUTTI_HTTP_ADDRESS";

	static final String PORT_VARIABLE = "TUTTI_HTTP_PORT";

	static final String ACTUATOR_PORT_VARIABLE = "MANAGEMENT_SERVER_PORT";

	private static final Duration TIMEOUT = Duration.ofSeconds(3);

	private static final int OK = 200;

	/** Status of a TLS port's answer to a plaintext request. */
	private static final int BAD_REQUEST = 400;

	private HealthProbe() {
	}

	/** Sends one request and exits. */
	public static void main(String[] args) {
		URI endpoint = endpoint(System.getenv(), (args.length > 0) ? args[0] : "liveness");
		System.exit(healthy(endpoint) ? 0 : 1);
	}

	/** The health endpoint of the rank in this container. */
	static URI endpoint(Map<String, String> environment, String kind) {
		String host = host(environment.getOrDefault(ADDRESS_VARIABLE, ""));
		String port = environment.getOrDefault(ACTUATOR_PORT_VARIABLE, environment.getOrDefault(PORT_VARIABLE, "8080"));
		return URI.create("http://" + host + ":" + port + "/actuator/health/" + kind);
	}

	/**
	 * Whether an endpoint answers with status 200; otherwise prints the reason on stderr.
	 * Over HTTPS any certificate is accepted: the server is on this host, and the request
	 * contains no secret.
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

	/**
	 * The wildcard address cannot be a destination; the server also listens on loopback.
	 */
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
