package io.tutti.service.rest;

import java.util.function.BooleanSupplier;

import io.tutti.service.http.ClientConnection;
import jakarta.servlet.ServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * Checks whether the client of a request is still connected.
 */
final class ClientProbe {

	private ClientProbe() {
	}

	/** The check, {@code null} if the connection cannot be probed. */
	static @Nullable BooleanSupplier of(ServletRequest request) {
		ClientConnection connection = ClientConnection.of(request);
		return (connection != null) ? connection::isOpen : null;
	}

}
