package io.tutti.service.config;

import io.tutti.engine.RankAssignment;
import io.tutti.launch.ExposureCheck;

import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;

/**
 * Address, port, certificate and temporary folder of Tutti's own web server.
 */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(HttpProperties.class)
@Import({ HttpAnnouncement.class, HttpCertificate.class, WebServerFolder.class })
public class HttpConfiguration {

	@Bean
	HttpBinding httpBinding(HttpProperties properties, RankAssignment assignment, Environment environment,
			ExposureCheck exposure) {
		return new HttpBinding(properties, assignment.localRank(), environment, exposure);
	}

}
