package io.tutti.service.config;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.context.ApplicationListener;

/**
 * Logs the HTTP address, since the kernel may have chosen the port.
 */
final class HttpAnnouncement implements ApplicationListener<WebServerInitializedEvent> {

	private static final Logger log = LoggerFactory.getLogger(HttpAnnouncement.class);

	private final HttpBinding binding;

	private final String scheme;

	HttpAnnouncement(HttpBinding binding, boolean secured) {
		this.binding = binding;
		this.scheme = secured ? "https" : "http";
	}

	@Override
	public void onApplicationEvent(WebServerInitializedEvent event) {
		int port = event.getWebServer().getPort();
		if (event.getApplicationContext().getServerNamespace() != null) {
			log.info("{} HTTP on port {}", event.getApplicationContext().getServerNamespace(), port);
			return;
		}
		String host = this.binding.address().getHostAddress();
		log.info("HTTP on {}://{}:{}", this.scheme, (host.indexOf(':') < 0) ? host : "[" + host + "]", port);
	}

}
