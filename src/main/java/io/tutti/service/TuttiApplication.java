package io.tutti.service;

import java.security.Security;

import io.tutti.service.command.TuttiCommand;

import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;

/**
 * Main class of all commands of Tutti, and the only caller of {@link System#exit}.
 */
@SpringBootApplication
@ConfigurationPropertiesScan
public class TuttiApplication {

	/**
	 * Runs a command and exits with its code. Failed host name look-ups are cached for
	 * one second instead of ten, since the name of a starting pod is not resolvable at
	 * first.
	 */
	public static void main(String[] args) {
		Security.setProperty("networkaddress.cache.negative.ttl", "1");
		System.exit(TuttiCommand.execute(TuttiApplication.class, args));
	}

}
