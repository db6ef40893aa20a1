package io.tutti.service.config;

import java.util.Optional;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.web.server.Ssl;
import org.springframework.boot.web.server.autoconfigure.ServerProperties;
import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.context.ApplicationListener;

/**
 * Logs the HTTP address, since the kernel may have chosen the port.
 */
public final class HttpAnnouncement implements ApplicationListener<WebServerInitializedEvent> {

	private static final Logger log = LoggerFactory.getLogger(HttpAnnouncement.class);

	private final HttpBinding binding;

	private final String scheme;

	private volatile @Nullable String url;

	HttpAnnouncement(HttpBinding binding, ServerProperties server) {
		this.binding = binding;
		this.scheme = Ssl.isEnabled(server.getSsl()) ? "https" : "http";
	}

	@Override
	public void onApplicationEvent(WebServerInitializedEvent event) {
		int port = event.getWebServer().getPort();
		if (event.getApplicationContext().getServerNamespace() != null) {
			log.info("{} HTTP on port {}", event.getApplicationContext().getServerNamespace(), port);
			return;
		}
		String host = this.binding.address().getHostAddress();
		String started = this.scheme + "://" + ((host.indexOf(':') < 0) ? host : "[" + host + "]") + ":" + port;
		this.url = started;
		log.info("HTTP on {}", started);
	}

	/** Where the rank answers, such as {@code http://127.0.0.1:8080}, once it does. */
	public Optional<String> url() {
		return Optional.ofNullable(this.url);
	}

}
