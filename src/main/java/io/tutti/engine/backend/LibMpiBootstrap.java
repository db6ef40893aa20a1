package io.tutti.engine.backend;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.libmpi.MpiWorld;
import io.tutti.engine.bootstrap.Endpoint;
import io.tutti.engine.bootstrap.HostIdentity;
import io.tutti.engine.control.LocalAddress;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.GroupSetupException;
import org.jspecify.annotations.Nullable;

/**
 * The rendezvous address of the control plane when the ranks run on an MPI library. Rank
 * 0 chooses a port and a secret, and the library sends them to all ranks. So no
 * configuration is needed, and no other process can join.
 *
 * @param host address on which rank 0 listens
 * @param port rank 0's port
 * @param secret used as the token if none is set
 */
record LibMpiBootstrap(String host, int port, String secret) {

	private static final int TEXT_BYTES = 512;

	private static final int SECRET_BYTES = 32;

	/** Takes the place of the host, which is never empty. */
	private static final String FAILED = "";

	/** Agrees on the rendezvous address; called by every rank. */
	static LibMpiBootstrap agree(MpiWorld world, @Nullable String bindAddress, Deadline deadline) {
		return agree(GroupIdentity.world(world.rank(), world.worldSize(), 0), bindAddress,
				(bytes) -> world.allGather(bytes, deadline));
	}

	/**
	 * As above. If rank 0 fails, it sends the reason instead of an address, so that all
	 * ranks fail at once.
	 * @param allGather returns the bytes of all ranks in rank order
	 * @throws GroupSetupException if rank 0 cannot listen
	 */
	static LibMpiBootstrap agree(GroupIdentity identity, @Nullable String bindAddress,
			UnaryOperator<byte[]> allGather) {
		boolean oneHost = hosts(identity, allGather).size() == 1;
		String text = "";
		IOException failure = null;
		if (identity.rank() == 0) {
			try {
				text = chosen(oneHost, bindAddress);
			}
			catch (IOException ex) {
				failure = ex;
				text = FAILED + "\n" + ex.getMessage();
			}
		}
		String[] parts = text(Arrays.copyOf(allGather.apply(padded(text)), TEXT_BYTES)).split("\n");
		if (parts[0].equals(FAILED)) {
			throw new GroupSetupException(identity,
					"rank 0 cannot listen for the control plane; set tutti.rendezvous.bind-address to an address of its"
							+ " host",
					(failure != null) ? failure : new IOException(parts[1]));
		}
		return new LibMpiBootstrap(parts[0], Integer.parseInt(parts[1]), parts[2]);
	}

	/** This rank's assignment with the agreed rendezvous address. */
	RankAssignment assignment(RankAssignment known) {
		return new RankAssignment(known.rank(), known.worldSize(), known.localRank(), known.localWorldSize(), this.host,
				this.port);
	}

	private static Set<String> hosts(GroupIdentity identity, UnaryOperator<byte[]> allGather) {
		byte[] all = allGather.apply(padded(HostIdentity.ofThisHost()));
		Set<String> hosts = new HashSet<>();
		for (int rank = 0; rank < identity.worldSize(); rank++) {
			hosts.add(text(Arrays.copyOfRange(all, rank * TEXT_BYTES, (rank + 1) * TEXT_BYTES)));
		}
		return hosts;
	}

	private static String chosen(boolean oneHost, @Nullable String bindAddress) throws IOException {
		String host = announced(bindAddress, oneHost);
		byte[] secret = new byte[SECRET_BYTES];
		new SecureRandom().nextBytes(secret);
		return String.join("\n", host, String.valueOf(freePort(host)), HexFormat.of().formatHex(secret));
	}

	/** The address at which the other ranks reach rank 0. */
	static String announced(@Nullable String bindAddress, boolean oneHost) throws IOException {
		if (bindAddress != null && !InetAddress.getByName(bindAddress).isAnyLocalAddress()) {
			return bindAddress;
		}
		return oneHost ? RankAssignment.DEFAULT_MASTER_ADDRESS : reachableAddress();
	}

	/**
	 * Another process is unlikely to get the port between this check and the rendezvous.
	 */
	private static int freePort(String host) throws IOException {
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName(host))) {
			return socket.getLocalPort();
		}
		catch (IOException ex) {
			throw new IOException(host + ": " + ex.getMessage(), ex);
		}
	}

	/**
	 * The address of the host's name comes first: the first interface may be one of
	 * containers or virtual machines, which other hosts cannot reach.
	 */
	private static String reachableAddress() throws IOException {
		return firstReachable(Stream.concat(ofHostName(),
				NetworkInterface.networkInterfaces()
					.filter(LibMpiBootstrap::isUsable)
					.flatMap(NetworkInterface::inetAddresses)
					.sorted(Comparator.comparing((address) -> address instanceof Inet4Address ? 0 : 1))))
			.orElseThrow(() -> new IOException("no network interface has an address that other hosts can reach"));
	}

	/** The first address that other hosts may reach, in a text that they understand. */
	static Optional<String> firstReachable(Stream<InetAddress> addresses) {
		return addresses.filter((address) -> !address.isLoopbackAddress() && !address.isLinkLocalAddress())
			.findFirst()
			.map(Endpoint::text);
	}

	private static Stream<InetAddress> ofHostName() {
		try {
			return Stream.of(InetAddress.getLocalHost()).filter(LocalAddress::isOfThisHost);
		}
		catch (UnknownHostException ex) {
			return Stream.empty();
		}
	}

	private static boolean isUsable(NetworkInterface network) {
		try {
			return network.isUp() && !network.isLoopback();
		}
		catch (SocketException ex) {
			return false;
		}
	}

	private static byte[] padded(String text) {
		return Arrays.copyOf(text.getBytes(StandardCharsets.UTF_8), TEXT_BYTES);
	}

	private static String text(byte[] padded) {
		return new String(padded, StandardCharsets.UTF_8).replace("\0", "");
	}

	@Override
	public String toString() {
		return "LibMpiBootstrap[host=" + this.host + ", port=" + this.port + ", secret=hidden]";
	}

}
