package io.tutti.service;

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

	/** Runs a command and exits with its code. */
	public static void main(String[] args) {
		System.exit(TuttiCommand.execute(TuttiApplication.class, args));
	}

}
