package io.tutti.probe;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.Proxy;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * What an endpoint answered to a GET.
 *
 * @param status HTTP status
 * @param body the first 64 KiB of the body
 */
record HttpAnswer(int status, String body) {

	private static final int MAX_BYTES = 64 * 1024;

	private static final int FIRST_ERROR = 400;

	/**
	 * Asks once, past any proxy.
	 * @param timeout for connecting, and again for each read
	 * @throws IOException if nobody answers in time
	 */
	static HttpAnswer of(URI endpoint, Duration timeout) throws IOException {
		HttpURLConnection connection = (HttpURLConnection) endpoint.toURL().openConnection(Proxy.NO_PROXY);
		connection.setConnectTimeout((int) timeout.toMillis());
		connection.setReadTimeout((int) timeout.toMillis());
		connection.setInstanceFollowRedirects(false);
		try {
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

}
