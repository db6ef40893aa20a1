package io.tutti.service.config;

import org.yaml.snakeyaml.error.YAMLException;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Explains a configuration file that is not valid YAML.
 */
final class YamlFailureAnalyzer extends AbstractFailureAnalyzer<YAMLException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, YAMLException cause) {
		return new FailureAnalysis("application.yml cannot be read: " + cause.getMessage(),
				"Correct the file in the working directory", cause);
	}

}
