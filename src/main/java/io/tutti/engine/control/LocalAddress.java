package io.tutti.engine.control;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.Arrays;

/**
 * Tells which addresses are of this host. The kernel is asked by a bind: it takes all of
 * 127.0.0.0/8 for its own where it has IPv4's loopback at all, though its list of
 * addresses names only one of them.
 */
public final class LocalAddress {

	private LocalAddress() {
	}

	/**
	 * Whether a socket of this host can have an address. Nobody is kept from a port by
	 * asking.
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
	 * The first address that is of this host, or the first of all if none is.
	 * @param addresses at least one
	 */
	public static InetAddress firstOf(InetAddress... addresses) {
		return Arrays.stream(addresses).filter(LocalAddress::isOfThisHost).findFirst().orElse(addresses[0]);
	}

}
