package io.tutti.engine.dispatch;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

import io.tutti.Collective;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.CleanUp;

/**
 * Stages a call's buffers through native memory and copies the result back: buffers on
 * the heap, and small buffers of a list, which are copied side by side. Other native
 * buffers are used in place.
 */
final class CallStaging implements AutoCloseable {

	/** Above this size, two copies cost more than a call of its own. */
	private static final long MAX_SMALL_BYTES = 64 << 10;

	private static final long MAX_PACK_BYTES = 1 << 20;

	private final StagingBuffer packStage = new StagingBuffer();

	private final StagingBuffer sendStage = new StagingBuffer();

	private final StagingBuffer receiveStage = new StagingBuffer();

	/**
	 * Sets the call's addresses. A buffer that is both send and receive buffer is staged
	 * once. The result of an exclusive scan on rank 0 is the buffer's own content.
	 */
	void place(Call call, MemorySegment send, MemorySegment receive) {
		MemorySegment nativeReceive = receive.isNative() ? receive : this.receiveStage.ofSize(receive.byteSize());
		MemorySegment nativeSend = BufferValidation.isSame(send, receive) ? nativeReceive
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

	/**
	 * Distributes buffers over calls: a large buffer has a call of its own, small ones
	 * share calls. Depends on the sizes alone, so it is the same on every rank.
	 * @param packs whether buffers may be copied
	 * @return the buffers of at least one call, in order
	 */
	static List<List<MemorySegment>> packs(List<MemorySegment> buffers, boolean packs) {
		List<List<MemorySegment>> calls = new ArrayList<>();
		List<MemorySegment> pack = new ArrayList<>();
		long bytes = 0;
		for (MemorySegment buffer : buffers) {
			if (!packs || buffer.byteSize() > MAX_SMALL_BYTES) {
				calls.add(List.of(buffer));
				continue;
			}
			if (bytes + buffer.byteSize() > MAX_PACK_BYTES) {
				calls.add(List.copyOf(pack));
				pack.clear();
				bytes = 0;
			}
			pack.add(buffer);
			bytes += buffer.byteSize();
		}
		if (!pack.isEmpty() || calls.isEmpty()) {
			calls.add(List.copyOf(pack));
		}
		return calls;
	}

	/** Size of all buffers together. */
	static long bytes(List<MemorySegment> pack) {
		long bytes = 0;
		for (MemorySegment buffer : pack) {
			bytes += buffer.byteSize();
		}
		return bytes;
	}

	/** Copies several buffers to native memory, side by side. */
	MemorySegment gather(List<MemorySegment> pack) {
		long bytes = bytes(pack);
		MemorySegment packed = this.packStage.ofSize(bytes).asSlice(0, bytes);
		long offset = 0;
		for (MemorySegment buffer : pack) {
			MemorySegment.copy(buffer, 0, packed, offset, buffer.byteSize());
			offset += buffer.byteSize();
		}
		return packed;
	}

	/** Copies the result back to the buffers that were gathered. */
	void scatter(List<MemorySegment> pack) {
		MemorySegment packed = this.packStage.ofSize(0);
		long offset = 0;
		for (MemorySegment buffer : pack) {
			if (!buffer.isReadOnly()) {
				MemorySegment.copy(packed, offset, buffer, 0, buffer.byteSize());
			}
			offset += buffer.byteSize();
		}
	}

	@Override
	public void close() {
		CleanUp.runAll(List.of(this.packStage::close, this.sendStage::close, this.receiveStage::close));
	}

}
