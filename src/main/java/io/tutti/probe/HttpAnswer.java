package io.tutti.probe;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.Proxy;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * Response of an endpoint.
 *
 * @param status HTTP status
 * @param body the first 16 MiB of the body
 */
record HttpAnswer(int status, String body) {

	/** A roll call of the largest group fits. */
	private static final int MAX_BYTES = 16 << 20;

	private static final int FIRST_ERROR = 400;

	/**
	 * Sends one GET request without a proxy.
	 * @param timeout for the connect and, separately, for each read
	 * @throws IOException if no trusted server answers in time
	 */
	static HttpAnswer of(URI endpoint, Trust trust, Duration timeout) throws IOException {
		return exchange(endpoint, timeout, trust::applyTo);
	}

	/**
	 * Sends one POST request with an empty JSON object, without a proxy.
	 * @param token the job's token, sent as bearer token; none if empty
	 * @param timeout for the connect and, separately, for each read
	 * @throws IOException if no trusted server answers in time
	 */
	static HttpAnswer ofPost(URI endpoint, String token, Trust trust, Duration timeout) throws IOException {
		return exchange(endpoint, timeout, (connection) -> {
			trust.applyTo(connection);
			connection.setRequestMethod("POST");
			connection.setRequestProperty("Content-Type", "application/json");
			if (!token.isEmpty()) {
				connection.setRequestProperty("Authorization", "Bearer " + token);
			}
			connection.setDoOutput(true);
			try (OutputStream out = connection.getOutputStream()) {
				out.write('{');
				out.write('}');
			}
		});
	}

	private static HttpAnswer exchange(URI endpoint, Duration timeout, Request request) throws IOException {
		HttpURLConnection connection = (HttpURLConnection) endpoint.toURL().openConnection(Proxy.NO_PROXY);
		connection.setConnectTimeout((int) timeout.toMillis());
		connection.setReadTimeout((int) timeout.toMillis());
		connection.setInstanceFollowRedirects(false);
		try {
			request.send(connection);
			int status = connection.getResponseCode();
			return new HttpAnswer(status, body(connection, status));
		}
		finally {
			connection.disconnect();
		}
	}

	private static String body(HttpURLConnection connection, int status) throws IOException {
		try (InputStream in = (status < FIRST_ERROR) ? connection.getInputStream() : connection.getErrorStream()) {
			return (in != null) ? new String(in.readNBytes(MAX_BYTES), StandardCharsets.UTF_8) : "";
		}
	}

	/** Prepares and sends the request. */
	@FunctionalInterface
	private interface Request {

		void send(HttpURLConnection connection) throws IOException;

	}

}
