package io.tutti.engine.p2p;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.tutti.DataType;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.ByteStream;

/**
 * The connection with a peer that announces one large message, whose memory can be read,
 * and sends nothing else.
 */
class AnnouncingStream implements ByteStream {

	private final MemorySegment frame = Arena.ofAuto().allocate(Frame.BYTES, 8);

	private boolean announced;

	AnnouncingStream(long bytes, int tag, long reference) {
		Frame.write(this.frame.address(), Frame.RTS, DataType.INT8.ordinal(), bytes, tag, 3, 0, reference);
	}

	@Override
	public long write(long address, long bytes) {
		return bytes;
	}

	@Override
	public long read(long address, long bytes) {
		if (this.announced) {
			return 0;
		}
		this.announced = true;
		NativeMemory.copy(this.frame.address(), address, Frame.BYTES);
		return Frame.BYTES;
	}

}
