package io.tutti.service.group;

import java.util.List;
import java.util.function.Consumer;

import io.tutti.CollectiveListener;
import io.tutti.Failure;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Forwards the engine's events to several listeners. A listener that fails keeps no other
 * one from the event.
 */
record GroupListeners(List<CollectiveListener> listeners) implements CollectiveListener {

	private static final Logger log = LoggerFactory.getLogger(GroupListeners.class);

	@Override
	public void note(String message) {
		forEach(this.listeners, (listener) -> listener.note(message));
	}

	@Override
	public void warn(String message) {
		forEach(this.listeners, (listener) -> listener.warn(message));
	}

	@Override
	public void withdrew(int rank) {
		forEach(this.listeners, (listener) -> listener.withdrew(rank));
	}

	@Override
	public void broken(Failure failure) {
		forEach(this.listeners, (listener) -> listener.broken(failure));
	}

	/** Passes an event to every listener, whether or not others fail. */
	static <T> void forEach(List<T> listeners, Consumer<T> event) {
		for (T listener : listeners) {
			try {
				event.accept(listener);
			}
			catch (RuntimeException | Error ex) {
				log.warn("the listener {} has failed", listener.getClass().getName(), ex);
			}
		}
	}

}
