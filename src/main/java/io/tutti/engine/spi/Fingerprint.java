package io.tutti.engine.spi;

/**
 * The values that two ranks must agree on before either uses the other's data. Every link
 * sends these 32 bytes ahead of each call; a hash covers the earlier calls. Compared as
 * four words, so that the check is almost free; decoded only to explain a mismatch.
 */
public final class Fingerprint {

	/** Size in bytes. */
	public static final int BYTES = 32;

	/** A byte of every fingerprint that shows that the stream is still in sync. */
	private static final long MARK = 0x54;

	private static final int MARK_SHIFT = 24;

	private Fingerprint() {
	}

	/**
	 * Writes a call's fingerprint to native memory. A part of a call has the fingerprint
	 * of the issued call.
	 */
	public static void write(Call any, long address) {
		Call call = any.issued();
		NativeMemory.putLong(address, call.sequence());
		NativeMemory.putLong(address + 8, call.count());
		NativeMemory.putLong(address + 16, call.operationBits() | MARK << MARK_SHIFT);
		NativeMemory.putLong(address + 24, (long) call.history() << 32 | call.countsDigest() & 0xffff_ffffL);
	}

	/** Copies a fingerprint within native memory. */
	public static void copy(long source, long target) {
		NativeMemory.putLong(target, NativeMemory.getLong(source));
		NativeMemory.putLong(target + 8, NativeMemory.getLong(source + 8));
		NativeMemory.putLong(target + 16, NativeMemory.getLong(source + 16));
		NativeMemory.putLong(target + 24, NativeMemory.getLong(source + 24));
	}

	/** Whether two fingerprints in native memory are equal. */
	public static boolean same(long left, long right) {
		return NativeMemory.getLong(left) == NativeMemory.getLong(right)
				&& NativeMemory.getLong(left + 8) == NativeMemory.getLong(right + 8)
				&& NativeMemory.getLong(left + 16) == NativeMemory.getLong(right + 16)
				&& NativeMemory.getLong(left + 24) == NativeMemory.getLong(right + 24);
	}

	/**
	 * Decodes a fingerprint in native memory.
	 * @throws IllegalArgumentException if the bytes are no fingerprint
	 */
	public static CallSignature read(long address) {
		long what = NativeMemory.getLong(address + 16);
		if ((what >> MARK_SHIFT & 0xff) != MARK) {
			throw new IllegalArgumentException("the stream is out of sync: these bytes are no fingerprint");
		}
		return new CallSignature(NativeMemory.getLong(address), Ordinals.collective((int) (what >> 16 & 0xff)),
				NativeMemory.getLong(address + 8), (int) NativeMemory.getLong(address + 24),
				Ordinals.type((int) (what >> 8 & 0xff)), Ordinals.operator((int) (what & 0xff)), (int) (what >> 32));
	}

}
