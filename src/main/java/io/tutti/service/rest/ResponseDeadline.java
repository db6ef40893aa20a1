package io.tutti.service.rest;

import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * Disconnects a client whose response is not written in time, since the response holds
 * what other requests wait for. The web server's own limit is one of each write, which a
 * client that reads slowly does not reach.
 */
final class ResponseDeadline implements AutoCloseable {

	private final CompletableFuture<Void> written = new CompletableFuture<>();

	/**
	 * Starts the deadline.
	 * @param connection the client's connection, {@code null} if it cannot be closed
	 */
	ResponseDeadline(@Nullable Closeable connection, Duration limit) {
		if (connection != null) {
			this.written.orTimeout(limit.toNanos(), TimeUnit.NANOSECONDS).exceptionally((_) -> {
				close(connection);
				return null;
			});
		}
	}

	private static void close(Closeable connection) {
		try {
			connection.close();
		}
		catch (IOException ex) {
			// It is closed already.
		}
	}

	/** The response is written. */
	@Override
	public void close() {
		this.written.complete(null);
	}

}
