package io.tutti.engine.transport.shm;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.tutti.CollectiveListener;

/**
 * Records the notes for a rank.
 */
public final class RecordingListener implements CollectiveListener {

	private final List<String> notes = new CopyOnWriteArrayList<>();

	@Override
	public void note(String message) {
		this.notes.add(message);
	}

	/** All notes so far. */
	public List<String> notes() {
		return this.notes;
	}

}
