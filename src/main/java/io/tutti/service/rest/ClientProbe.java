package io.tutti.service.rest;

import java.util.function.BooleanSupplier;

import io.tutti.service.http.ClientConnection;
import jakarta.servlet.ServletRequest;
import org.jspecify.annotations.Nullable;

/**
 * Tells whether the client of a request is still there.
 */
final class ClientProbe {

	private ClientProbe() {
	}

	/** What tells it, {@code null} if that cannot be known. */
	static @Nullable BooleanSupplier of(ServletRequest request) {
		ClientConnection connection = ClientConnection.of(request);
		return (connection != null) ? connection::isOpen : null;
	}

}
