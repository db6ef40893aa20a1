package io.tutti.service.config;

import java.net.Inet4Address;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import io.tutti.BadConfigurationException;

/**
 * Selects the address for {@code tutti.network.interface}. An exact interface name takes
 * precedence over a prefix. Of several addresses the first one of the rendezvous
 * address's family is preferred, IPv4 if that address is a host name. Link-local
 * addresses come last.
 */
final class NetworkSelection {

	private final List<HostAddress> present;

	NetworkSelection(List<HostAddress> present) {
		this.present = List.copyOf(present);
	}

	/**
	 * @param wanted an interface's name, a prefix of names or a network
	 * @param rendezvous the rendezvous address
	 * @throws BadConfigurationException if no interface that is up matches, naming those
	 * that are up
	 */
	HostAddress select(String wanted, String rendezvous) {
		boolean ipv6 = rendezvous.contains(":");
		Comparator<HostAddress> best = Comparator
			.comparing((HostAddress candidate) -> candidate.address().isLinkLocalAddress())
			.thenComparing((candidate) -> candidate.address() instanceof Inet4Address == ipv6);
		return fitting(wanted).stream().min(best).orElseThrow(() -> nothingFits(wanted));
	}

	private List<HostAddress> fitting(String wanted) {
		if (wanted.contains("/")) {
			Subnet network = Subnet.parse(wanted);
			return where((candidate) -> network.contains(candidate.address()));
		}
		List<HostAddress> named = where((candidate) -> candidate.interfaceName().equals(wanted));
		return named.isEmpty() ? where((candidate) -> candidate.interfaceName().startsWith(wanted)) : named;
	}

	private List<HostAddress> where(Predicate<HostAddress> fits) {
		return this.present.stream().filter(fits).toList();
	}

	private BadConfigurationException nothingFits(String wanted) {
		String there = this.present.stream().map(HostAddress::toString).collect(Collectors.joining(", "));
		return new BadConfigurationException(
				"tutti.network.interface=" + wanted + " is not an interface of this host that is up and has an address",
				"Available: " + (there.isEmpty() ? "none" : there)
						+ ". Give one's name, a prefix of its name, or a network of its address");
	}

}
