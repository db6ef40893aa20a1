package io.tutti.launch;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The ports of one start of a group, reserved until this object is closed: the rendezvous
 * port, and of an elastic job one endpoint per slot. A bound socket that does not listen
 * reserves a free port: the kernel gives the port to no other process, and a rank can
 * listen on it as long as both sockets set {@code SO_REUSEADDR} (server sockets of the
 * JVM do).
 */
final class JobPorts implements AutoCloseable {

	private final List<Socket> reserved = new ArrayList<>();

	private final int rendezvous;

	private final List<String> endpoints;

	/** Chooses the ports that the plan does not give. */
	JobPorts(LaunchPlan plan) throws IOException {
		this.rendezvous = rendezvous(plan);
		this.endpoints = endpoints(plan.elastic());
	}

	/** Other programs may be unable to listen on a reserved port, so it is released. */
	private int rendezvous(LaunchPlan plan) throws IOException {
		Integer given = plan.masterPort();
		if (given != null) {
			return given;
		}
		if (plan.command().kind() != LaunchedCommand.Kind.PROGRAM) {
			return reserve();
		}
		try (Socket port = freePort()) {
			return port.getLocalPort();
		}
	}

	/**
	 * Only Tutti's engine listens on endpoints, so they stay reserved for any program.
	 */
	private List<String> endpoints(@Nullable ElasticRanks elastic) throws IOException {
		if (elastic == null || !elastic.endpoints().isEmpty()) {
			return (elastic == null) ? List.of() : elastic.endpoints();
		}
		List<String> chosen = new ArrayList<>();
		for (int slot = 0; slot < elastic.most(); slot++) {
			chosen.add("127.0.0.1:" + reserve());
		}
		return chosen;
	}

	private int reserve() throws IOException {
		Socket port = freePort();
		this.reserved.add(port);
		return port.getLocalPort();
	}

	private static Socket freePort() throws IOException {
		Socket socket = new Socket();
		socket.setReuseAddress(true);
		socket.bind(new InetSocketAddress(0));
		return socket;
	}

	int rendezvous() {
		return this.rendezvous;
	}

	/** One {@code host:port} per slot, empty unless the job is elastic. */
	List<String> endpoints() {
		return this.endpoints;
	}

	@Override
	public void close() throws IOException {
		for (Socket port : this.reserved) {
			port.close();
		}
	}

}
