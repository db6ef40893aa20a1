package io.tutti.engine.algorithm.shared;

import java.util.stream.IntStream;

import io.tutti.Collective;
import io.tutti.engine.spi.Call;
import io.tutti.engine.transport.shm.PeerBuffers;
import org.jspecify.annotations.Nullable;

/**
 * A group's choices how large buffers are moved, one for each collective and for each
 * class of sizes, which grow by a factor of two.
 */
final class CopyChoices {

	/** A system call takes longer than two copies of less. */
	private static final long MIN_BYTES = 16 << 10;

	private static final int MIN_LOG = Long.numberOfTrailingZeros(MIN_BYTES);

	/** The last class has no limit. */
	private static final int SIZES = PeerBuffers.CLASSES / Collective.values().length;

	private final PeerBuffers buffers;

	private final CopyChoice[] choices;

	CopyChoices(PeerBuffers buffers) {
		this.buffers = buffers;
		this.choices = IntStream.range(0, PeerBuffers.CLASSES)
			.mapToObj((kind) -> new CopyChoice(buffers, kind))
			.toArray(CopyChoice[]::new);
	}

	/**
	 * The choice that applies to a call, or {@code null} if the ranks cannot or need not
	 * read private memory in it; the same on every rank.
	 */
	@Nullable CopyChoice of(Call call) {
		if (call.bytes() < MIN_BYTES || !this.buffers.canRead()) {
			return null;
		}
		int size = Math.min(Long.SIZE - 1 - Long.numberOfLeadingZeros(call.bytes()) - MIN_LOG, SIZES - 1);
		return this.choices[call.collective().ordinal() * SIZES + size];
	}

}
