package io.tutti.launch;

import java.net.InetAddress;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;

import io.tutti.BadConfigurationException;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.bootstrap.Endpoint;
import io.tutti.engine.elastic.ElasticSettings;
import org.jspecify.annotations.Nullable;

/**
 * Refuses to listen beyond loopback without a token, unless anonymous access is enabled.
 * All ranks of a group decide alike, so that no rank waits for one that refused to start.
 * Uses the name service.
 */
public final class ExposureCheck {

	private static final String ACTION = "Set tutti.security.token or tutti.security.token-file"
			+ " (variables TUTTI_SECURITY_TOKEN, TUTTI_SECURITY_TOKENFILE), %s,"
			+ " or set tutti.security.anonymous=true to let any process join that can reach it";

	private final boolean open;

	/**
	 * @param open whether every address is permitted, since there is a token or anonymous
	 * access is enabled
	 */
	public ExposureCheck(boolean open) {
		this.open = open;
	}

	/**
	 * Checks an address that HTTP would bind; {@code null} stands for all addresses.
	 * @param property the property that sets this address
	 * @throws BadConfigurationException if other hosts can reach it and must not
	 */
	public void requireSafeHttp(String property, @Nullable InetAddress address) {
		if (!this.open && !(address != null && address.isLoopbackAddress())) {
			throw new BadConfigurationException(
					"HTTP would listen on " + ((address != null) ? address.getHostAddress() : "every address")
							+ ", which other hosts can reach, and no token is set",
					String.format(Locale.ROOT, ACTION, "or " + property + "=127.0.0.1"));
		}
	}

	/**
	 * Checks the rendezvous address. A group of one does not listen.
	 * @param bindAddress where rank 0 listens, {@code null} for the master address
	 * @throws BadConfigurationException if other hosts can reach it and must not
	 */
	public void requireSafeRendezvous(RankAssignment assignment, @Nullable String bindAddress) {
		if (assignment.worldSize() > 1) {
			requireLoopback(Stream.of((bindAddress != null) ? bindAddress : assignment.masterAddress()),
					"or use the rendezvous address 127.0.0.1 if all ranks are on this host");
		}
	}

	/**
	 * Checks the addresses of an elastic job. Each of its ranks listens, also a single
	 * one, and each may become rank 0.
	 * @throws BadConfigurationException if other hosts can reach one and must not
	 */
	public void requireSafeRendezvous(ElasticSettings elastic, EngineSettings engine) {
		requireLoopback(
				Stream.concat(elastic.endpoints().stream().map(Endpoint::host),
						Stream.of(engine.bindAddress(), engine.dataAddress())),
				"or use 127.0.0.1 in all of tutti.elastic.endpoints if all ranks are on this host, and unset"
						+ " tutti.rendezvous.bind-address and tutti.network.interface");
	}

	private void requireLoopback(Stream<@Nullable String> addresses, String local) {
		if (this.open) {
			return;
		}
		addresses.filter(Objects::nonNull)
			.filter((address) -> !Endpoint.resolvesToLoopback(address))
			.findFirst()
			.ifPresent((address) -> {
				throw new BadConfigurationException(
						"rendezvous would listen on " + address + ", which other hosts can reach, and no token is set",
						String.format(Locale.ROOT, ACTION, local));
			});
	}

}
