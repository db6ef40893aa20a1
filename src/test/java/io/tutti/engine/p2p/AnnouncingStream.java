package io.tutti.engine.p2p;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

import io.tutti.DataType;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.ByteStream;

/**
 * The connection with a peer that announces one large message, whose memory can be read,
 * and sends it when the test says so.
 */
class AnnouncingStream implements ByteStream {

	private static final int ID = 3;

	private final MemorySegment frame = Arena.ofAuto().allocate(Frame.BYTES, 8);

	private final Deque<MemorySegment> unread = new ArrayDeque<>(List.of(this.frame));

	AnnouncingStream(long bytes, int tag, long reference) {
		Frame.write(this.frame.address(), Frame.RTS, DataType.INT8.ordinal(), bytes, tag, ID, 0, reference);
	}

	@Override
	public long write(long address, long bytes) {
		return bytes;
	}

	/** The peer answers CTS. */
	void send(MemorySegment message) {
		MemorySegment data = Arena.ofAuto().allocate(Frame.BYTES, 8);
		Frame.write(data.address(), Frame.DATA, DataType.INT8.ordinal(), message.byteSize(), 0, ID, 0, 0);
		this.unread.add(data);
		this.unread.add(message);
	}

	@Override
	public long read(long address, long bytes) {
		MemorySegment next = this.unread.poll();
		if (next == null) {
			return 0;
		}
		long count = Math.min(bytes, next.byteSize());
		NativeMemory.copy(next.address(), address, count);
		if (count < next.byteSize()) {
			this.unread.addFirst(next.asSlice(count));
		}
		return count;
	}

}
