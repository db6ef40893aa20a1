package io.tutti.probe;

import java.io.IOException;
import java.net.URI;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

/**
 * Checks a health endpoint of the ranks in this container, all at once. Arguments: the
 * endpoint, such as {@code readiness}; the number of ranks, which have consecutive ports;
 * how many of them must be healthy. Without arguments it checks the liveness of one rank.
 * Exit code 0 if enough ranks answer with status 200 in time, else 1. Uses HTTPS if the
 * server requires it, and the actuator's own port if there is one.
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

	/** Asks each rank and exits. */
	public static void main(String[] args) throws InterruptedException {
		String kind = (args.length > 0) ? args[0] : "liveness";
		int ranks = (args.length > 1) ? Integer.parseInt(args[1]) : 1;
		int least = (args.length > 2) ? Integer.parseInt(args[2]) : ranks;
		System.exit((healthy(endpoints(System.getenv(), kind, ranks)) >= least) ? 0 : 1);
	}

	/** The health endpoints of the ranks in this container. */
	static List<URI> endpoints(Map<String, String> environment, String kind, int ranks) {
		String host = host(environment.getOrDefault(ADDRESS_VARIABLE, ""));
		int port = Integer.parseInt(
				environment.getOrDefault(ACTUATOR_PORT_VARIABLE, environment.getOrDefault(PORT_VARIABLE, "8080")));
		return IntStream.range(0, ranks)
			.mapToObj((local) -> URI.create("http://" + host + ":" + (port + local) + "/actuator/health/" + kind))
			.toList();
	}

	/** How many endpoints are healthy. */
	static long healthy(List<URI> endpoints) throws InterruptedException {
		List<Callable<Boolean>> questions = endpoints.stream()
			.<Callable<Boolean>>map((endpoint) -> () -> healthy(endpoint))
			.toList();
		try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
			return threads.invokeAll(questions).stream().filter(Future::resultNow).count();
		}
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
