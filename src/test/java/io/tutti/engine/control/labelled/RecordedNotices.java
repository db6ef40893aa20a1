package io.tutti.engine.control.labelled;

import java.util.function.BiConsumer;

import io.tutti.engine.control.ControlMessage.LabelledNotice;
import io.tutti.engine.control.ControlMessage.Notice;
import io.tutti.engine.control.Coordinator;

/** Records the notices that rank 0 sends about labels. */
record RecordedNotices(BiConsumer<Integer, LabelledNotice> recorder) implements Coordinator.Downlink {

	@Override
	public void send(int rank, Notice notice) {
		this.recorder.accept(rank, (LabelledNotice) notice);
	}

	@Override
	public void broadcast(Notice notice) {
		throw new AssertionError(notice);
	}

}
