package io.tutti.service.group;

import java.util.List;

import io.tutti.CollectiveListener;
import io.tutti.Failure;

/**
 * Forwards the engine's events to several listeners.
 */
record GroupListeners(List<CollectiveListener> listeners) implements CollectiveListener {

	@Override
	public void note(String message) {
		this.listeners.forEach((listener) -> listener.note(message));
	}

	@Override
	public void warn(String message) {
		this.listeners.forEach((listener) -> listener.warn(message));
	}

	@Override
	public void withdrew(int rank) {
		this.listeners.forEach((listener) -> listener.withdrew(rank));
	}

	@Override
	public void broken(Failure failure) {
		this.listeners.forEach((listener) -> listener.broken(failure));
	}

}
