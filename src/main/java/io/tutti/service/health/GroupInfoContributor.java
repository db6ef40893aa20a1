package io.tutti.service.health;

import java.time.Instant;
import java.util.Map;

import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.Availability;
import io.tutti.engine.backend.Backends;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.tls.Tls;
import io.tutti.service.config.RankTls;
import io.tutti.service.group.GroupLifecycle;

import org.springframework.boot.actuate.info.Info;
import org.springframework.boot.actuate.info.InfoContributor;
import org.springframework.util.function.SingletonSupplier;

/**
 * Adds the backend, the availability of all backends, the rank and the TLS state to the
 * build information.
 */
final class GroupInfoContributor implements InfoContributor {

	private final GroupLifecycle group;

	private final EngineSettings settings;

	private final RankTls tls;

	/** Loads native libraries, so not before the first request, and once. */
	private final SingletonSupplier<Map<String, Availability>> backends;

	GroupInfoContributor(GroupLifecycle group, EngineSettings settings, RankTls tls) {
		this.group = group;
		this.settings = settings;
		this.tls = tls;
		this.backends = SingletonSupplier.of(() -> Backends.availabilities(settings));
	}

	@Override
	public void contribute(Info.Builder builder) {
		RankAssignment place = this.group.assignment();
		builder.withDetail("tutti", Map.of("backend", this.settings.backend(), "backends", this.backends.obtain(),
				"rank", place.rank(), "worldSize", place.worldSize(), "tls", tls()));
	}

	/** The TLS state of connections between ranks. */
	private Map<String, Object> tls() {
		Tls spoken = this.settings.tls();
		Instant validUntil = this.tls.validUntil();
		return (spoken != null && validUntil != null)
				? Map.of("enabled", true, "peerName", spoken.peerName(), "certificateValidUntil", validUntil)
				: Map.of("enabled", false);
	}

}
