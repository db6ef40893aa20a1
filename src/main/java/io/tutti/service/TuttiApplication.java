package io.tutti.service;

import java.security.Security;

import io.tutti.service.command.TuttiCommand;

import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;

/**
 * Where every command of Tutti begins and ends: the one place that calls
 * {@link System#exit}.
 */
@SpringBootApplication
@ConfigurationPropertiesScan
public class TuttiApplication {

	/**
	 * Runs a command and exits with its code. A name that is not known yet, as a pod's is
	 * not while it starts, is asked for again after a second and not after ten.
	 */
	public static void main(String[] args) {
		Security.setProperty("networkaddress.cache.negative.ttl", "1");
		System.exit(TuttiCommand.execute(TuttiApplication.class, args));
	}

}
