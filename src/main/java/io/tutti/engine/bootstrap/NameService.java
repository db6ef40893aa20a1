package io.tutti.engine.bootstrap;

import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * Resolves host names. In a cluster a name may not be known yet.
 */
@FunctionalInterface
interface NameService {

	/** The system's resolver. */
	NameService SYSTEM = InetAddress::getAllByName;

	/**
	 * A host's addresses, at least one. May block for long.
	 * @param host name or address
	 * @throws UnknownHostException if the name is not known
	 */
	InetAddress[] addressesOf(String host) throws UnknownHostException;

}
