package io.tutti.engine.dispatch;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import io.tutti.CollectiveException;
import io.tutti.DataType;
import io.tutti.engine.spi.Agreement;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.MetadataExchange;

/**
 * An exchange by all-gather on a group, in the group's issue order.
 */
public final class GroupExchange implements MetadataExchange {

	private static final int HEADER_BYTES = Integer.BYTES;

	private static final int FRAME_BYTES = HEADER_BYTES + MAX_BYTES;

	private final DefaultProcessGroup group;

	private final Agreement on;

	public GroupExchange(DefaultProcessGroup group, Agreement on) {
		this.group = group;
		this.on = on;
	}

	/**
	 * Aborts the group on an interrupted thread: opening a file between two exchanges
	 * fails there, which must not be mistaken for a limitation of the host.
	 * @throws CollectiveException if the group is or becomes broken
	 */
	@Override
	public byte[][] allGather(byte[] mine, Deadline deadline) throws IOException {
		if (mine.length > MAX_BYTES) {
			throw new IllegalArgumentException("a rank gives at most " + MAX_BYTES + " bytes, got " + mine.length);
		}
		MemorySegment own = MemorySegment.ofArray(new byte[FRAME_BYTES]);
		own.set(ValueLayout.JAVA_INT_UNALIGNED, 0, mine.length);
		MemorySegment.copy(mine, 0, own, ValueLayout.JAVA_BYTE, HEADER_BYTES, mine.length);
		MemorySegment all = MemorySegment.ofArray(new byte[this.group.worldSize() * FRAME_BYTES]);
		this.group.withTimeout(deadline.remaining()).agree(this.on, own, all);
		byte[][] result = new byte[this.group.worldSize()][];
		for (int rank = 0; rank < result.length; rank++) {
			result[rank] = frame(all.asSlice((long) rank * FRAME_BYTES, FRAME_BYTES), rank);
		}
		return result;
	}

	private static byte[] frame(MemorySegment frame, int rank) throws IOException {
		int length = frame.get(ValueLayout.JAVA_INT_UNALIGNED, 0);
		if (length < 0 || length > MAX_BYTES) {
			throw new IOException("rank " + rank + " must give 0.." + MAX_BYTES + " bytes, gave " + length);
		}
		return frame.asSlice(HEADER_BYTES, length).toArray(ValueLayout.JAVA_BYTE);
	}

}
