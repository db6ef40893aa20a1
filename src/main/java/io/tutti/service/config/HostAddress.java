package io.tutti.service.config;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;

import io.tutti.BadConfigurationException;
import io.tutti.engine.bootstrap.Endpoint;

/**
 * One address of this host.
 *
 * @param interfaceName the interface that has it
 * @param address the address
 */
record HostAddress(String interfaceName, InetAddress address) {

	/** All addresses of the interfaces that are up, in the system's order. */
	static List<HostAddress> all() {
		try {
			List<HostAddress> found = new ArrayList<>();
			for (NetworkInterface candidate : NetworkInterface.networkInterfaces().toList()) {
				if (candidate.isUp()) {
					candidate.inetAddresses()
						.forEach((address) -> found.add(new HostAddress(candidate.getName(), address)));
				}
			}
			return found;
		}
		catch (SocketException ex) {
			throw new BadConfigurationException("this host's network interfaces cannot be listed: " + ex.getMessage(),
					"Unset tutti.network.interface", ex);
		}
	}

	/** The address without the interface name, as peers on other hosts can use it. */
	String text() {
		return Endpoint.text(this.address);
	}

	@Override
	public String toString() {
		return this.interfaceName + " " + text();
	}

}
