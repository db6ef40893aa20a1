package io.tutti.engine.bootstrap;

import java.net.InetAddress;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.tutti.engine.spi.Deadline;

/**
 * Where a rank listens, for the rendezvous or for formations.
 *
 * @param host name or address; an IPv6 address with or without brackets
 * @param port 1 to 65535
 */
public record Endpoint(String host, int port) {

	/** Resolves host names. In a cluster a name may not be known yet. */
	@FunctionalInterface
	public interface NameService {

		/** The system's resolver. */
		NameService SYSTEM = InetAddress::getAllByName;

		/**
		 * A host's addresses, at least one. May block for long.
		 * @throws UnknownHostException if the name is not known
		 */
		InetAddress[] addressesOf(String host) throws UnknownHostException;

		/**
		 * Starts a lookup in another thread: native code waits for the name service,
		 * which no interrupt ends and which would hold a virtual thread's carrier.
		 */
		default FutureTask<InetAddress[]> lookUp(String host) {
			FutureTask<InetAddress[]> lookup = new FutureTask<>(() -> addressesOf(host));
			Thread.ofPlatform().name("tutti-lookup").daemon().start(lookup);
			return lookup;
		}

	}

	/** A name service that loses a query may answer the next one. */
	private static final Duration LOOKUP_LIMIT = Duration.ofSeconds(10);

	private static final int NO_PORT = 0;

	private static final Pattern HOST_AND_PORT = Pattern
		.compile("(?:\\[(?<ipv6>[^\\]]+)]|(?<host>[^:\\[\\]]+))\\s*(?::\\s*(?<port>[0-9]{1,5}))?");

	private static final Pattern LITERAL_IPV4 = Pattern.compile("[0-9.]+");

	public Endpoint {
		if (host.isBlank() || port < 1 || port > 65535) {
			throw new IllegalArgumentException(
					"an endpoint must be host:port with a port in 1..65535, got " + host + ":" + port);
		}
	}

	/** Parses {@code host:port}; an IPv6 address is in brackets. */
	public static Endpoint parse(String text) {
		return parse(text, NO_PORT);
	}

	/** Parses {@code host:port} or {@code host}; an IPv6 address is in brackets. */
	public static Endpoint parse(String text, int defaultPort) {
		Matcher parts = HOST_AND_PORT.matcher(text.strip());
		if (!parts.matches() || parts.group("port") == null && defaultPort == NO_PORT) {
			throw new IllegalArgumentException(
					"an endpoint must be host:port, got " + text + "; an IPv6 address must be in brackets");
		}
		String host = (parts.group("ipv6") != null) ? parts.group("ipv6") : parts.group("host");
		int port = (parts.group("port") != null) ? Integer.parseInt(parts.group("port")) : defaultPort;
		return new Endpoint(host.strip(), port);
	}

	/**
	 * The host's addresses. Blocks for at most some seconds, and not beyond the deadline,
	 * if the name service does not answer.
	 * @throws UnknownHostException if there are none
	 * @throws SocketTimeoutException if none were found in time
	 */
	public List<InetAddress> resolve(NameService names, Deadline deadline)
			throws UnknownHostException, SocketTimeoutException, InterruptedException {
		FutureTask<InetAddress[]> lookup = names.lookUp(this.host);
		long limitNanos = Math.min(LOOKUP_LIMIT.toNanos(), deadline.remainingNanos());
		try {
			return List.of(lookup.get(limitNanos, TimeUnit.NANOSECONDS));
		}
		catch (TimeoutException ex) {
			throw new SocketTimeoutException(this.host + ": the name service did not answer within "
					+ RendezvousFailure.seconds(Duration.ofNanos(limitNanos)));
		}
		catch (ExecutionException ex) {
			if (ex.getCause() instanceof UnknownHostException unknown) {
				throw unknown;
			}
			throw new IllegalStateException("the lookup of " + this.host + " failed", ex.getCause());
		}
	}

	/**
	 * Whether the host is a name that other hosts may resolve to another address.
	 * {@code localhost} is not.
	 */
	boolean isName() {
		return !this.host.equals("localhost") && !this.host.contains(":") && !LITERAL_IPV4.matcher(this.host).matches();
	}

	/** Whether a host is literally a loopback address; resolves no name. */
	public static boolean isLoopback(String host) {
		try {
			return host.equals("localhost") || InetAddress.ofLiteral(host).isLoopbackAddress();
		}
		catch (IllegalArgumentException ex) {
			return false;
		}
	}

	/**
	 * Whether all addresses of a host are loopback. An unknown name is not loopback: it
	 * may resolve to any address later. Uses the name service.
	 */
	public static boolean resolvesToLoopback(String host) {
		try {
			return Arrays.stream(InetAddress.getAllByName(host)).allMatch(InetAddress::isLoopbackAddress);
		}
		catch (UnknownHostException ex) {
			return false;
		}
	}

	/** An address without the interface name, which means nothing to other hosts. */
	public static String text(InetAddress address) {
		String text = address.getHostAddress();
		int scope = text.indexOf('%');
		return (scope < 0) ? text : text.substring(0, scope);
	}

	@Override
	public String toString() {
		boolean bareIpv6 = this.host.indexOf(':') >= 0 && !this.host.startsWith("[");
		return (bareIpv6 ? "[" + this.host + "]" : this.host) + ":" + this.port;
	}

}
