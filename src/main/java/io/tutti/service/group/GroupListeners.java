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
		forward((listener) -> listener.note(message));
	}

	@Override
	public void warn(String message) {
		forward((listener) -> listener.warn(message));
	}

	@Override
	public void withdrew(int rank) {
		forward((listener) -> listener.withdrew(rank));
	}

	@Override
	public void broken(Failure failure) {
		forward((listener) -> listener.broken(failure));
	}

	private void forward(Consumer<CollectiveListener> event) {
		for (CollectiveListener listener : this.listeners) {
			try {
				event.accept(listener);
			}
			catch (RuntimeException | Error ex) {
				log.warn("the listener {} has failed", listener.getClass().getName(), ex);
			}
		}
	}

}
