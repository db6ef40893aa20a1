package io.tutti.service.config;

import java.net.SocketException;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.error.YAMLException;

import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.ssl.NoSuchSslBundleException;
import org.springframework.boot.web.server.PortInUseException;
import org.springframework.boot.web.server.WebServerException;

/**
 * Explains failures of the web server, the SSL bundles and {@code application.yml}.
 */
final class ServerFailureAnalyzer implements FailureAnalyzer {

	/** Spring's bean name for the registry of bundles, which reads the watched ones. */
	private static final String REGISTRY = "sslBundleRegistry";

	@Override
	public @Nullable FailureAnalysis analyze(Throwable failure) {
		return first(failure, ServerFailureAnalyzer::explain);
	}

	/** The first explanation of a failure or one of its causes. */
	static @Nullable FailureAnalysis first(Throwable failure, Function<Throwable, @Nullable FailureAnalysis> explain) {
		return causes(failure).map(explain).filter(Objects::nonNull).findFirst().orElse(null);
	}

	private static @Nullable FailureAnalysis explain(Throwable cause) {
		return switch (cause) {
			case PortInUseException ex -> new FailureAnalysis("HTTP port " + ex.getPort() + " is already in use",
					"Stop the process that listens there, or choose another base with --http-port (tutti.http.port,"
							+ " TUTTI_HTTP_PORT), to which the local rank is added; 0 for an ephemeral port",
					ex);
			case WebServerException ex -> causes(ex).filter(SocketException.class::isInstance)
				.findFirst()
				.map((refused) -> new FailureAnalysis("HTTP cannot listen: " + refused.getMessage(),
						"Choose another port with --http-port (tutti.http.port, TUTTI_HTTP_PORT), 1024 or above where"
								+ " lower ones are privileged, or another address with tutti.http.address",
						ex))
				.orElse(null);
			case NoSuchSslBundleException ex ->
				new FailureAnalysis("unknown SSL bundle " + ex.getBundleName(), describe(ex.getBundleName()), ex);
			case BeanCreationException ex when REGISTRY.equals(ex.getBeanName()) ->
				new FailureAnalysis("an SSL bundle under spring.ssl.bundle cannot be used: " + RankTls.innermost(ex),
						"Check its files, passwords and names", ex);
			case YAMLException ex -> new FailureAnalysis("application.yml cannot be read: " + ex.getMessage(),
					"Correct the file in the working directory", ex);
			default -> null;
		};
	}

	private static Stream<Throwable> causes(Throwable failure) {
		return Stream.iterate(failure, Objects::nonNull, Throwable::getCause);
	}

	/** The action to take for an SSL bundle that is not configured. */
	static String describe(String bundle) {
		return "Describe it under spring.ssl.bundle.pem." + bundle + " or spring.ssl.bundle.jks." + bundle;
	}

}
