package io.tutti.service.config;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import org.springframework.util.StringUtils;

/**
 * The values of the {@code Host} header that this rank accepts: loopback, the wildcard
 * address, the address that accepted the connection, and the configured hosts. A name
 * that an attacker points at this rank (DNS rebinding) is not among them.
 */
public final class AllowedHosts {

	private static final String ANY_SUBDOMAIN = "*.";

	private static final Pattern NAME = Pattern.compile("[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?");

	private final Set<String> names = new HashSet<>(Set.of("localhost"));

	private final List<String> suffixes = new ArrayList<>();

	private final Set<InetAddress> addresses = new HashSet<>();

	/**
	 * Allows loopback and the configured hosts.
	 * @param configured names, addresses, and domains as {@code *.example.org}, which
	 * match every name below them
	 * @throws IllegalArgumentException naming the value that is none of these
	 */
	AllowedHosts(Collection<String> configured) {
		configured.forEach((host) -> add(host, normalized(host.strip())));
	}

	/** The hosts of the properties, with the host that other ranks use. */
	public static AllowedHosts of(HttpProperties properties, TransportProperties transport) {
		List<String> hosts = new ArrayList<>(properties.allowedHosts());
		if (StringUtils.hasText(transport.advertisedHost())) {
			hosts.add(transport.advertisedHost());
		}
		return new AllowedHosts(hosts);
	}

	private void add(String given, String host) {
		InetAddress address = literal(host);
		String name = host.startsWith(ANY_SUBDOMAIN) ? host.substring(ANY_SUBDOMAIN.length()) : host;
		if (address != null) {
			this.addresses.add(address);
			return;
		}
		if (!NAME.matcher(name).matches()) {
			throw new IllegalArgumentException("allowed host must be a name, an address or *.domain, without scheme,"
					+ " port and path, got " + given);
		}
		if (name.equals(host)) {
			this.names.add(name);
			return;
		}
		this.suffixes.add("." + name);
	}

	/**
	 * Whether a host is allowed.
	 * @param host name or address, IPv6 in brackets, without a port
	 * @param localAddress the address that accepted the connection
	 */
	public boolean contains(String host, String localAddress) {
		String name = normalized(host);
		InetAddress address = literal(name);
		if (address == null) {
			return this.names.contains(name) || this.suffixes.stream().anyMatch(name::endsWith);
		}
		return address.isLoopbackAddress() || address.isAnyLocalAddress() || address.equals(literal(localAddress))
				|| this.addresses.contains(address);
	}

	/** Removes brackets and the trailing dot that DNS allows. */
	private static String normalized(String host) {
		String name = host.toLowerCase(Locale.ROOT);
		if (name.startsWith("[") && name.endsWith("]")) {
			return name.substring(1, name.length() - 1);
		}
		return name.endsWith(".") ? name.substring(0, name.length() - 1) : name;
	}

	/** Parses an address and drops its scope. Never queries a name server. */
	private static @Nullable InetAddress literal(String host) {
		int scope = host.indexOf('%');
		try {
			return InetAddress.ofLiteral((scope < 0) ? host : host.substring(0, scope));
		}
		catch (IllegalArgumentException ex) {
			return null;
		}
	}

}
