package io.tutti.engine.control;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.Arrays;

/**
 * Tests whether an address belongs to this host by binding a socket to it. A kernel with
 * an IPv4 loopback accepts all of 127.0.0.0/8, though its list of addresses contains only
 * one of them.
 */
public final class LocalAddress {

	private LocalAddress() {
	}

	/**
	 * Whether a socket of this host can bind the address. The test blocks no port for
	 * other sockets.
	 */
	public static boolean isOfThisHost(InetAddress address) {
		try (SocketChannel probe = SocketChannel.open()) {
			probe.setOption(StandardSocketOptions.SO_REUSEADDR, true);
			probe.bind(new InetSocketAddress(address, 0));
			return true;
		}
		catch (IOException | UnsupportedAddressTypeException ex) {
			return false;
		}
	}

	/**
	 * The first address that belongs to this host, else the first of all.
	 * @param addresses at least one
	 */
	public static InetAddress firstOf(InetAddress... addresses) {
		return Arrays.stream(addresses).filter(LocalAddress::isOfThisHost).findFirst().orElse(addresses[0]);
	}

}
