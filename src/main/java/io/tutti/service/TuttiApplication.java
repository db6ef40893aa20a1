package io.tutti.service;

import java.security.Security;

import io.tutti.service.command.TuttiCommand;
import io.tutti.service.config.HttpConfiguration;
import io.tutti.service.config.ServeProperties;
import io.tutti.service.config.TrainProperties;
import io.tutti.service.group.LogContext;
import io.tutti.service.recorder.TrainingWatch;
import io.tutti.service.rest.RestServerConfiguration;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.PropertySource;

/**
 * Main class of all commands of Tutti, and the only caller of {@link System#exit}. As an
 * application it consists of the auto-configurations that every application with this jar
 * has, and of Tutti's own web server.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@EnableConfigurationProperties({ ServeProperties.class, TrainProperties.class })
@PropertySource("classpath:io/tutti/service/server.properties")
@Import({ HttpConfiguration.class, RestServerConfiguration.class, LogContext.class, TrainingWatch.class })
public class TuttiApplication {

	/**
	 * Runs a command and exits with its code. Host name look-ups are cached for one
	 * second: the name of a starting pod is not resolvable at first, and that of a
	 * replaced pod has another address.
	 */
	public static void main(String[] args) {
		Security.setProperty("networkaddress.cache.ttl", "1");
		Security.setProperty("networkaddress.cache.negative.ttl", "1");
		System.exit(TuttiCommand.execute(TuttiApplication.class, args));
	}

}
