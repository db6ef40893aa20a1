package io.tutti.service.config;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.web.server.PortInUseException;

/**
 * Explains an HTTP port that another process uses.
 */
final class PortFailureAnalyzer extends AbstractFailureAnalyzer<PortInUseException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, PortInUseException cause) {
		return new FailureAnalysis("HTTP port " + cause.getPort() + " is already in use",
				"Stop the process that listens there, or choose another base with --http-port (tutti.http.port,"
						+ " TUTTI_HTTP_PORT), to which the local rank is added; 0 for an ephemeral port",
				cause);
	}

}
