package io.tutti.engine.bootstrap;

import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * Knows the addresses of names; in a cluster it may not know one yet.
 */
@FunctionalInterface
interface NameService {

	/** The one of this host. */
	NameService SYSTEM = InetAddress::getAllByName;

	/**
	 * A host's addresses, at least one; may take long.
	 * @param host name or address
	 * @throws UnknownHostException if it has none so far
	 */
	InetAddress[] addressesOf(String host) throws UnknownHostException;

}
