package io.tutti.probe;

import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.Map;

/**
 * Whether the rank in this container is alive, by its own liveness endpoint. Exit code 0
 * if it is, 1 if it is not or does not answer in time. An argument names another endpoint
 * to ask, such as {@code readiness}.
 */
public final class HealthProbe {

	static final String ADDRESS_VARIABLE = "TUTTI_HTTP_ADDRESS";

	static final String PORT_VARIABLE = "TUTTI_HTTP_PORT";

	private static final Duration TIMEOUT = Duration.ofSeconds(3);

	private static final int OK = 200;

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
		String port = environment.getOrDefault(PORT_VARIABLE, "8080");
		return URI.create("http://" + host + ":" + port + "/actuator/health/" + kind);
	}

	/** Whether an endpoint says that all is well; says on stderr why not. */
	static boolean healthy(URI endpoint) {
		try {
			HttpAnswer answer = HttpAnswer.of(endpoint, TIMEOUT);
			if (answer.status() == OK) {
				return true;
			}
			System.err.println(endpoint + " answered " + answer.status() + ": " + answer.body());
		}
		catch (IOException ex) {
			System.err.println(endpoint + " did not answer: " + ex.getMessage());
		}
		return false;
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
