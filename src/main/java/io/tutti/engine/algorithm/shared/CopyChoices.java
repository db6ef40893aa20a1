package io.tutti.engine.algorithm.shared;

import io.tutti.engine.spi.Call;
import io.tutti.engine.transport.shm.AgreedChoices;
import io.tutti.engine.transport.shm.PeerBuffers;
import io.tutti.engine.transport.shm.ShmTransport;
import org.jspecify.annotations.Nullable;

/**
 * A group's choices how large buffers are moved, one for each collective and for each
 * class of sizes, which grow by a factor of two.
 */
final class CopyChoices {

	/** A system call takes longer than two copies of less. */
	private static final long MIN_BYTES = 16 << 10;

	private static final int MIN_LOG = Long.numberOfTrailingZeros(MIN_BYTES);

	private final PeerBuffers buffers;

	private final AgreedChoices agreed;

	/** Those in use. */
	private final @Nullable CopyChoice[] choices = new CopyChoice[AgreedChoices.CLASSES];

	CopyChoices(ShmTransport transport) {
		this.buffers = transport.buffers();
		this.agreed = transport.choices();
	}

	/**
	 * The choice that applies to a call, or {@code null} if the ranks cannot or need not
	 * read private memory in it; the same on every rank.
	 */
	@Nullable CopyChoice of(Call call) {
		if (call.bytes() < MIN_BYTES || !this.buffers.canRead()) {
			return null;
		}
		// The last class has no limit.
		int size = Math.min(Long.SIZE - 1 - Long.numberOfLeadingZeros(call.bytes()) - MIN_LOG, AgreedChoices.SIZES - 1);
		int kind = call.collective().ordinal() * AgreedChoices.SIZES + size;
		CopyChoice choice = this.choices[kind];
		if (choice == null) {
			choice = new CopyChoice(this.agreed, kind);
			this.choices[kind] = choice;
		}
		return choice;
	}

}
