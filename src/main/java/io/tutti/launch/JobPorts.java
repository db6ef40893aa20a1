package io.tutti.launch;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

/**
 * The ports of one start of a group, reserved until this object is closed: the rendezvous
 * port, and of an elastic job one endpoint per slot.
 */
final class JobPorts implements AutoCloseable {

	private final List<ReservedPort> reserved = new ArrayList<>();

	private final int rendezvous;

	private final List<String> endpoints;

	/** Chooses the ports that the plan does not give. */
	JobPorts(LaunchPlan plan) {
		this.rendezvous = rendezvous(plan);
		this.endpoints = endpoints(plan.elastic());
	}

	/** Other programs may be unable to listen on a reserved port, so it is released. */
	private int rendezvous(LaunchPlan plan) {
		Integer given = plan.masterPort();
		if (given != null) {
			return given;
		}
		if (plan.command().kind() != LaunchedCommand.Kind.PROGRAM) {
			return reserve();
		}
		try (ReservedPort port = ReservedPort.free()) {
			return port.number();
		}
	}

	/**
	 * Only Tutti's engine listens on endpoints, so they stay reserved for any program.
	 */
	private List<String> endpoints(@Nullable ElasticRanks elastic) {
		if (elastic == null || !elastic.endpoints().isEmpty()) {
			return (elastic == null) ? List.of() : elastic.endpoints();
		}
		return IntStream.range(0, elastic.most()).mapToObj((slot) -> "127.0.0.1:" + reserve()).toList();
	}

	private int reserve() {
		ReservedPort port = ReservedPort.free();
		this.reserved.add(port);
		return port.number();
	}

	int rendezvous() {
		return this.rendezvous;
	}

	/** One {@code host:port} per slot, empty unless the job is elastic. */
	List<String> endpoints() {
		return this.endpoints;
	}

	@Override
	public void close() {
		this.reserved.forEach(ReservedPort::close);
	}

}
