package io.tutti.service.config;

import java.net.InetAddress;
import java.util.Locale;

import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.elastic.ElasticSettings;
import io.tutti.launch.RendezvousExposure;
import org.jspecify.annotations.Nullable;

/**
 * Refuses to listen beyond loopback without a token, unless anonymous access is enabled.
 */
public final class ExposureCheck {

	private static final String ACTION = "Set tutti.security.token or tutti.security.token-file"
			+ " (variables TUTTI_SECURITY_TOKEN, TUTTI_SECURITY_TOKENFILE), %s,"
			+ " or set tutti.security.anonymous=true to let any process join that can reach it";

	private final boolean open;

	ExposureCheck(SharedToken token, SecurityProperties security) {
		this.open = token.isSet() || security.anonymous();
	}

	/** Checks an address that HTTP would bind; {@code null} stands for all addresses. */
	void requireSafeHttp(@Nullable InetAddress address) {
		if (!this.open && !(address != null && address.isLoopbackAddress())) {
			throw new ConfigurationException(
					"HTTP would listen on " + ((address != null) ? address.getHostAddress() : "every address")
							+ ", which other hosts can reach, and no token is set",
					String.format(Locale.ROOT, ACTION, "or tutti.http.address=127.0.0.1"));
		}
	}

	/** Checks the rendezvous address. */
	void requireSafeRendezvous(RankAssignment assignment, @Nullable String bindAddress) {
		if (!this.open) {
			requireNone(RendezvousExposure.beyondThisHost(assignment, bindAddress),
					"or use the rendezvous address 127.0.0.1 if all ranks are on this host");
		}
	}

	/** Checks the addresses of an elastic job. */
	void requireSafeRendezvous(ElasticSettings elastic, EngineSettings engine) {
		if (!this.open) {
			requireNone(RendezvousExposure.beyondThisHost(elastic, engine),
					"or use 127.0.0.1 in all of tutti.elastic.endpoints if all ranks are on this host, and unset"
							+ " tutti.rendezvous.bind-address and tutti.network.interface");
		}
	}

	private static void requireNone(@Nullable String address, String local) {
		if (address != null) {
			throw new ConfigurationException(
					"rendezvous would listen on " + address + ", which other hosts can reach, and no token is set",
					String.format(Locale.ROOT, ACTION, local));
		}
	}

}
