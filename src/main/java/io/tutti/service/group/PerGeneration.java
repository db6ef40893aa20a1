package io.tutti.service.group;

import java.util.function.Consumer;
import java.util.function.Function;

import io.tutti.GroupState;
import io.tutti.engine.backend.JoinedGroup;
import org.jspecify.annotations.Nullable;

/**
 * What a service keeps for one generation of the group. It is created on the first use in
 * a generation and closed on the first use in the next one. Thread-safe.
 *
 * @param <T> type of what is kept
 */
public final class PerGeneration<T> {

	private final Function<JoinedGroup, T> create;

	private final Consumer<T> close;

	private @Nullable JoinedGroup group;

	private @Nullable T kept;

	public PerGeneration(Function<JoinedGroup, T> create, Consumer<T> close) {
		this.create = create;
		this.close = close;
	}

	/**
	 * Returns what is kept for a group.
	 * @throws GroupUnavailableException if a later generation is already in use
	 */
	public synchronized T of(JoinedGroup joined) {
		T found = this.kept;
		if (found != null && this.group == joined) {
			return found;
		}
		if (this.group != null && joined.world().generation() < this.group.world().generation()) {
			throw new GroupUnavailableException(GroupStatus.of(GroupState.FORMING), null);
		}
		close();
		T created = this.create.apply(joined);
		this.group = joined;
		this.kept = created;
		return created;
	}

	/**
	 * Closes what is kept for an earlier generation. Does nothing if a later one is
	 * already in use: a listener that is added while a generation forms is called for the
	 * one before it last.
	 */
	public void formed(JoinedGroup joined) {
		try {
			of(joined);
		}
		catch (GroupUnavailableException ex) {
			// A later generation is in use.
		}
	}

	/** What is kept, {@code null} before the first use. */
	public synchronized @Nullable T current() {
		return this.kept;
	}

	/** Closes what is kept. */
	public synchronized void close() {
		T found = this.kept;
		this.kept = null;
		if (found != null) {
			this.close.accept(found);
		}
	}

}
