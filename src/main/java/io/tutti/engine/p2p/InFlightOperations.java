package io.tutti.engine.p2p;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * What has begun and is not done. Once everything has failed, an operation that begins
 * later fails with the same exception: none is ever open that nobody would fail.
 */
final class InFlightOperations {

	private final Consumer<Operation> finished;

	private final List<Operation> open = new ArrayList<>();

	/** Why everything has failed; {@code null} until then. */
	private @Nullable RuntimeException ended;

	/**
	 * @param finished hears of each operation that is done
	 */
	InFlightOperations(Consumer<Operation> finished) {
		this.finished = finished;
	}

	/**
	 * Takes in an operation that begins, or fails it if everything has failed.
	 * @return whether it was taken in
	 */
	boolean add(Operation operation) {
		RuntimeException why = this.ended;
		if (why != null) {
			fail(operation, why);
			return false;
		}
		operation.place = this.open.size();
		this.open.add(operation);
		return true;
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

	/** Fails all operations, and those that begin from now on; the first reason stays. */
	void failAll(RuntimeException why) {
		if (this.ended != null) {
			return;
		}
		this.ended = why;
		while (!this.open.isEmpty()) {
			fail(this.open.removeLast(), why);
		}
	}

	private void fail(Operation operation, RuntimeException why) {
		operation.failure = why;
		this.finished.accept(operation);
	}

	/** Whether everything has failed. */
	boolean ended() {
		return this.ended != null;
	}

}
