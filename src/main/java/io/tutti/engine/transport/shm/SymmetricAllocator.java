package io.tutti.engine.transport.shm;

import java.io.IOException;
import java.util.List;
import java.util.stream.IntStream;

import io.tutti.engine.control.RecordCodec;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.MetadataExchange;
import org.jspecify.annotations.Nullable;

/**
 * Makes one allocation on all ranks: rank 0 creates the segment, the other ranks map it,
 * and rank 0 unlinks it. If a rank cannot, it informs the others, and no rank has the
 * allocation.
 */
final class SymmetricAllocator {

	private final int self;

	private final int ranks;

	private final MetadataExchange exchange;

	private final SegmentDirectory directory;

	private final Deadline deadline;

	private @Nullable SharedSegment segment;

	private @Nullable String refusal;

	SymmetricAllocator(int self, int ranks, MetadataExchange exchange, SegmentDirectory directory, Deadline deadline) {
		this.self = self;
		this.ranks = ranks;
		this.exchange = exchange;
		this.directory = directory;
		this.deadline = deadline;
	}

	/**
	 * Makes the allocation.
	 * @param bytes the same on every rank
	 * @return {@code null} if a rank could not, see {@link #refusal()}
	 * @throws OutOfMemoryError on every rank, if the host has not that much memory
	 */
	@Nullable SharedAllocation allocate(long bytes) throws IOException {
		boolean whole = false;
		try {
			List<HandshakeMessage> made = gather((this.self == 0) ? make(bytes) : HandshakeMessage.NOTHING);
			requireMemory(bytes, made.get(0).second());
			List<HandshakeMessage> mapped = gather(
					(this.self == 0) ? HandshakeMessage.NOTHING : map(made.get(0), bytes));
			List<HandshakeMessage> unlinked = gather(unlink());
			this.refusal = HandshakeMessage.refusal(IntStream.range(0, this.ranks).boxed().toList(), made, mapped,
					unlinked);
			SharedSegment shared = this.segment;
			whole = this.refusal == null && shared != null;
			return (whole && shared != null) ? new SharedAllocation(shared, bytes) : null;
		}
		finally {
			SharedSegment unused = this.segment;
			if (!whole && unused != null) {
				try (unused) {
					unused.unlink();
				}
			}
		}
	}

	/** Which rank could not, and why; {@code null} if all could. */
	@Nullable String refusal() {
		return this.refusal;
	}

	/** Sends how many bytes of memory are available; makes nothing larger. */
	private HandshakeMessage make(long bytes) {
		long available = AvailableMemory.ofHost();
		try {
			String name = "";
			if (segmentBytes(bytes) <= available) {
				name = this.directory.newName();
				this.segment = SharedSegment.create(this.directory.file(name), segmentBytes(bytes), this.deadline);
			}
			return new HandshakeMessage(true, 0, available, name);
		}
		catch (IOException | OutOfMemoryError ex) {
			return new HandshakeMessage(false, 0, available, String.valueOf(ex.getMessage()));
		}
	}

	private HandshakeMessage map(HandshakeMessage made, long bytes) {
		if (!made.usable()) {
			return HandshakeMessage.NOTHING;
		}
		try {
			this.segment = SharedSegment.open(this.directory.file(made.text()), segmentBytes(bytes));
			return HandshakeMessage.NOTHING;
		}
		catch (IOException | OutOfMemoryError ex) {
			return HandshakeMessage.refusal(String.valueOf(ex.getMessage()));
		}
	}

	/** Without this the kernel would end a process instead. */
	private void requireMemory(long bytes, long available) {
		if (segmentBytes(bytes) > available) {
			throw new OutOfMemoryError("a buffer of " + bytes + " bytes on each of " + this.ranks
					+ " ranks needs more memory than their host has available, " + available
					+ " bytes: allocate less, or run fewer ranks on this host");
		}
	}

	private long segmentBytes(long bytes) {
		try {
			return SharedAllocation.segmentBytes(this.ranks, bytes);
		}
		catch (ArithmeticException ex) {
			return Long.MAX_VALUE;
		}
	}

	private List<HandshakeMessage> gather(HandshakeMessage own) throws IOException {
		return RecordCodec.allGather(HandshakeMessage.class, own, this.exchange, this.deadline);
	}

	private HandshakeMessage unlink() {
		try {
			SharedSegment made = this.segment;
			if (made != null) {
				made.unlink();
			}
			return HandshakeMessage.NOTHING;
		}
		catch (IOException ex) {
			return HandshakeMessage.refusal("the memory's name cannot be removed (" + ex.getMessage() + ")");
		}
	}

}
