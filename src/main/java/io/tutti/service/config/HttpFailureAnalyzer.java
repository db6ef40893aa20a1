package io.tutti.service.config;

import java.net.SocketException;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.web.server.WebServerException;

/**
 * Explains that HTTP cannot listen on its address, such as on a privileged port.
 */
final class HttpFailureAnalyzer extends AbstractFailureAnalyzer<WebServerException> {

	@Override
	protected @Nullable FailureAnalysis analyze(Throwable rootFailure, WebServerException cause) {
		SocketException refused = findCause(cause, SocketException.class);
		if (refused == null) {
			return null;
		}
		return new FailureAnalysis("HTTP cannot listen: " + refused.getMessage(),
				"Choose another port with --http-port (tutti.http.port, TUTTI_HTTP_PORT), 1024 or above where lower ones"
						+ " are privileged, or another address with tutti.http.address",
				cause);
	}

}
