package io.tutti.engine.dispatch;

import java.lang.foreign.MemorySegment;

import io.tutti.engine.spi.Call;

/**
 * Gives a call native memory in place of buffers on the heap, and brings its result back
 * there. Native buffers stay where they are.
 */
final class CallStaging implements AutoCloseable {

	private final StagingBuffer sendStage = new StagingBuffer();

	private final StagingBuffer receiveStage = new StagingBuffer();

	/** Tells the call where its bytes are; a buffer that is both stays one. */
	void place(Call call, MemorySegment send, MemorySegment receive) {
		MemorySegment nativeReceive = receive.isNative() ? receive : this.receiveStage.ofSize(receive.byteSize());
		MemorySegment nativeSend = send.equals(receive) ? nativeReceive
				: send.isNative() ? send : this.sendStage.ofSize(send.byteSize());
		if (!send.isNative()) {
			MemorySegment.copy(send, 0, nativeSend, 0, send.byteSize());
		}
		call.place(nativeSend.address(), send.byteSize(), nativeReceive.address(), receive.byteSize());
	}

	/** The result of the call that was placed last. */
	void bringBack(MemorySegment receive) {
		if (!receive.isNative()) {
			MemorySegment.copy(this.receiveStage.ofSize(receive.byteSize()), 0, receive, 0, receive.byteSize());
		}
	}

	@Override
	public void close() {
		this.sendStage.close();
		this.receiveStage.close();
	}

}
