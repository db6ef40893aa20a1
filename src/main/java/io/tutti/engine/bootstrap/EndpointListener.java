package io.tutti.engine.bootstrap;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

import io.tutti.engine.bootstrap.Endpoint.NameService;
import io.tutti.engine.bootstrap.ListenException.Problem;
import io.tutti.engine.control.LocalAddress;
import io.tutti.engine.spi.CleanUp;
import io.tutti.engine.spi.Deadline;

/**
 * Listens at an endpoint of this host, at the first address of its name that can be
 * bound.
 *
 * @param names resolves the name of the endpoint
 * @param deadline the time by which the name must be known
 */
public record EndpointListener(Endpoint endpoint, NameService names, Deadline deadline) {

	/** All ranks may connect at once. The kernel caps it. */
	private static final int BACKLOG = 4096;

	private static final int FIRST_UNPRIVILEGED_PORT = 1024;

	/**
	 * Listens.
	 * @param waiting receives after each failed lookup what this process does
	 * @throws ListenException if no address can be bound
	 */
	public ServerSocketChannel open(Consumer<String> waiting) throws ListenException, InterruptedException {
		ListenException first = null;
		for (InetAddress address : candidates(waiting)) {
			try {
				return open(address);
			}
			catch (ListenException ex) {
				if (ex.problem() == Problem.PORT) {
					// The other ranks would still connect to this address.
					throw ex;
				}
				first = (first != null) ? first : ex;
			}
		}
		throw Objects.requireNonNull(first, "a name that is known has an address");
	}

	/** Addresses other than loopback come first: ranks of other hosts need one. */
	private List<InetAddress> candidates(Consumer<String> waiting) throws ListenException, InterruptedException {
		return resolve(waiting).stream().sorted(Comparator.comparing(InetAddress::isLoopbackAddress)).toList();
	}

	/** In a cluster a process may start before its own name is known. */
	private List<InetAddress> resolve(Consumer<String> waiting) throws ListenException, InterruptedException {
		ConnectAttempts attempts = new ConnectAttempts();
		while (true) {
			try {
				return this.endpoint.resolve(this.names, this.deadline);
			}
			catch (UnknownHostException | SocketTimeoutException ex) {
				String problem = CleanUp.message(ex);
				waiting.accept("resolves " + this.endpoint + " to listen there (" + problem + ")");
				if (!attempts.pause(this.deadline)) {
					throw new ListenException(Problem.NAME, "the name is not known (" + problem + ")", ex);
				}
			}
		}
	}

	private ServerSocketChannel open(InetAddress address) throws ListenException, InterruptedException {
		int port = this.endpoint.port();
		try {
			return ConnectionAcceptor.listen(new InetSocketAddress(address, port), BACKLOG);
		}
		catch (InterruptedIOException ex) {
			throw new InterruptedException(ex.getMessage());
		}
		catch (UnsupportedAddressTypeException ex) {
			throw new ListenException(Problem.FAMILY,
					"this host has no " + ((address instanceof Inet6Address) ? "IPv6" : "IPv4"), ex);
		}
		catch (IOException ex) {
			if (!LocalAddress.isOfThisHost(address)) {
				throw new ListenException(Problem.ADDRESS,
						CleanUp.message(ex) + " (the address is not one of this host)", ex);
			}
			throw new ListenException(Problem.PORT,
					CleanUp.message(ex) + ((port < FIRST_UNPRIVILEGED_PORT)
							? " (the port is in use, or below 1024 and needs privileges)"
							: " (another process has the port)"),
					ex);
		}
	}

	/**
	 * Warns if ranks of other hosts cannot reach an address that the name has on this
	 * host: some systems map a host's own name to an address such as 127.0.1.1.
	 * @param server the socket that was opened
	 */
	public void warnOfLoopback(int rank, ServerSocketChannel server, Consumer<String> warn) {
		InetAddress address = server.socket().getInetAddress();
		if (address.isLoopbackAddress() && this.endpoint.isName()) {
			warn.accept("rank " + rank + " listens at " + this.endpoint.host() + ", which is " + Endpoint.text(address)
					+ " on this host: ranks of other hosts cannot reach it. Set tutti.rendezvous.bind-address to an"
					+ " address that they reach, or to 0.0.0.0, or correct the name in /etc/hosts");
		}
	}

}
