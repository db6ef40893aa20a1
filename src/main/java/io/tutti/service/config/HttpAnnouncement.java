package io.tutti.service.config;

import java.net.InetAddress;

import io.tutti.engine.RankAssignment;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.stereotype.Component;

/**
 * Says where HTTP answers, since the kernel may have picked the port.
 */
@Component
final class HttpAnnouncement implements ApplicationListener<WebServerInitializedEvent> {

	private static final Logger log = LoggerFactory.getLogger(HttpAnnouncement.class);

	private final InetAddress address;

	private final RankAssignment assignment;

	HttpAnnouncement(HttpProperties properties, RankAssignment assignment) {
		this.address = properties.address();
		this.assignment = assignment;
	}

	@Override
	public void onApplicationEvent(WebServerInitializedEvent event) {
		log.info("rank {} of {}: HTTP on {} port {}", this.assignment.rank(), this.assignment.worldSize(),
				this.address.getHostAddress(), event.getWebServer().getPort());
	}

}
