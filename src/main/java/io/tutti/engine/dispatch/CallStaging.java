package io.tutti.engine.dispatch;

import java.lang.foreign.MemorySegment;

import io.tutti.Collective;
import io.tutti.engine.spi.Call;

/**
 * Stages a call's heap buffers through native memory and copies the result back. Native
 * buffers are used in place.
 */
final class CallStaging implements AutoCloseable {

	private final StagingBuffer sendStage = new StagingBuffer();

	private final StagingBuffer receiveStage = new StagingBuffer();

	/**
	 * Sets the call's addresses. A buffer that is both send and receive buffer is staged
	 * once. The result of an exclusive scan on rank 0 is the buffer's own content.
	 */
	void place(Call call, MemorySegment send, MemorySegment receive) {
		MemorySegment nativeReceive = receive.isNative() ? receive : this.receiveStage.ofSize(receive.byteSize());
		MemorySegment nativeSend = send.equals(receive) ? nativeReceive
				: send.isNative() ? send : this.sendStage.ofSize(send.byteSize());
		if (!send.isNative()) {
			MemorySegment.copy(send, 0, nativeSend, 0, send.byteSize());
		}
		if (!receive.isNative() && call.collective() == Collective.EXCLUSIVE_SCAN) {
			MemorySegment.copy(receive, 0, nativeReceive, 0, receive.byteSize());
		}
		call.place(nativeSend.address(), send.byteSize(), nativeReceive.address(), receive.byteSize());
	}

	/**
	 * Copies the result of the last placed call to a heap receive buffer. Only the root
	 * of a broadcast may have a read-only one, which stays as it is.
	 */
	void bringBack(MemorySegment receive) {
		if (!receive.isNative() && !receive.isReadOnly()) {
			MemorySegment.copy(this.receiveStage.ofSize(receive.byteSize()), 0, receive, 0, receive.byteSize());
		}
	}

	@Override
	public void close() {
		this.sendStage.close();
		this.receiveStage.close();
	}

}
