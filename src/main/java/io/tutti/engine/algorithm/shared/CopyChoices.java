package io.tutti.engine.algorithm.shared;

import io.tutti.engine.spi.Call;
import io.tutti.engine.transport.shm.AgreedChoices;
import io.tutti.engine.transport.shm.CopyChoice;
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
	private final @Nullable Choice[] choices = new Choice[AgreedChoices.CLASSES];

	/**
	 * How the calls of one class are moved.
	 *
	 * @param own this rank's choice, which counts in the calls in which it is the
	 * chooser, a rank that receives
	 */
	record Choice(AgreedChoices agreed, int kind, CopyChoice own) {

		/**
		 * Whether the ranks of a call read, by the chooser's choice; the same on every
		 * rank.
		 */
		boolean reads(int chooser) {
			return this.agreed.reads(chooser, this.kind);
		}

		/** Whether this rank is to measure a call, from the arrival of all ranks on. */
		boolean measures() {
			return this.own.measures();
		}

		/**
		 * Counts a call in which this rank was the chooser.
		 * @param read whether the ranks have read
		 * @param nanos duration, if it was to be measured
		 */
		void record(Call call, boolean read, long nanos) {
			boolean reads = this.own.reads();
			this.own.record(call.bytes(), read, nanos);
			if (this.own.reads() != reads) {
				this.agreed.choose(this.kind, !reads);
			}
		}

	}

	CopyChoices(ShmTransport transport) {
		this.buffers = transport.buffers();
		this.agreed = transport.choices();
	}

	/**
	 * The choice that applies to a call, or {@code null} if the ranks cannot or need not
	 * read private memory in it; the same on every rank.
	 */
	@Nullable Choice of(Call call) {
		if (call.bytes() < MIN_BYTES || !this.buffers.canRead()) {
			return null;
		}
		// The last class has no limit.
		int size = Math.min(Long.SIZE - 1 - Long.numberOfLeadingZeros(call.bytes()) - MIN_LOG, AgreedChoices.SIZES - 1);
		int kind = call.collective().ordinal() * AgreedChoices.SIZES + size;
		Choice choice = this.choices[kind];
		if (choice == null) {
			choice = new Choice(this.agreed, kind, new CopyChoice(false));
			this.choices[kind] = choice;
		}
		return choice;
	}

}
