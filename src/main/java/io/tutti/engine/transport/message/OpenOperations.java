package io.tutti.engine.transport.message;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * What has begun and is not done.
 */
final class OpenOperations {

	private final Consumer<Operation> finished;

	private final List<Operation> open = new ArrayList<>();

	/**
	 * @param finished hears of each operation that is done
	 */
	OpenOperations(Consumer<Operation> finished) {
		this.finished = finished;
	}

	void add(Operation operation) {
		operation.place = this.open.size();
		this.open.add(operation);
	}

	/** All of them; not to be changed. */
	List<Operation> all() {
		return this.open;
	}

	void finish(Operation operation) {
		Operation last = this.open.removeLast();
		if (last != operation) {
			this.open.set(operation.place, last);
			last.place = operation.place;
		}
		this.finished.accept(operation);
	}

	void failAll(RuntimeException why) {
		while (!this.open.isEmpty()) {
			Operation operation = this.open.removeLast();
			operation.failure = why;
			this.finished.accept(operation);
		}
	}

}
