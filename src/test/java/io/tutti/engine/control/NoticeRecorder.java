package io.tutti.engine.control;

import java.util.function.BiConsumer;
import java.util.function.Consumer;

import io.tutti.engine.control.ControlMessage.Notice;

/** Hands the notices of rank 0 to a test. */
record NoticeRecorder(BiConsumer<Integer, Notice> sent, Consumer<Notice> broadcasts) implements Coordinator.Downlink {

	/** For a test without broadcasts. */
	NoticeRecorder(BiConsumer<Integer, Notice> sent) {
		this(sent, (notice) -> {
			throw new AssertionError(notice);
		});
	}

	@Override
	public void send(int rank, Notice notice) {
		this.sent.accept(rank, notice);
	}

	@Override
	public void broadcast(Notice notice) {
		this.broadcasts.accept(notice);
	}

}
