package io.tutti.engine.diagnosis;

import io.tutti.engine.Call;
import io.tutti.engine.CallSignature;
import io.tutti.engine.Collective;
import io.tutti.engine.DataType;
import io.tutti.engine.NativeMemory;
import io.tutti.engine.ReduceOp;

/**
 * What two ranks must agree on before either uses the other's data: 32 bytes that go
 * ahead of every call on every link. Compared as four words, so that agreement costs
 * nothing; taken apart only to explain a difference.
 */
public final class Fingerprint {

	/** Size on the wire. */
	public static final int BYTES = 32;

	/** In the last word of every fingerprint: shows that a stream is still in step. */
	private static final int MARK = 0x5475_7431;

	/** An odd number without a pattern. */
	private static final long HASH_FACTOR = 0x9E37_79B9_7F4A_7C15L;

	private Fingerprint() {
	}

	/** Writes a call's fingerprint to native memory. */
	public static void write(Call call, long address) {
		NativeMemory.putLong(address, call.sequence());
		NativeMemory.putLong(address + 8, call.count());
		NativeMemory.putLong(address + 16, (long) call.root() << 32 | (long) call.collective().ordinal() << 16
				| (long) call.type().ordinal() << 8 | call.op().ordinal());
		NativeMemory.putLong(address + 24, (long) MARK << 32 | call.countsDigest() & 0xffff_ffffL);
	}

	/** Copies a fingerprint from one place in native memory to another. */
	public static void copy(long source, long target) {
		NativeMemory.putLong(target, NativeMemory.getLong(source));
		NativeMemory.putLong(target + 8, NativeMemory.getLong(source + 8));
		NativeMemory.putLong(target + 16, NativeMemory.getLong(source + 16));
		NativeMemory.putLong(target + 24, NativeMemory.getLong(source + 24));
	}

	/** Whether two fingerprints in native memory are the same. */
	public static boolean same(long left, long right) {
		return NativeMemory.getLong(left) == NativeMemory.getLong(right)
				&& NativeMemory.getLong(left + 8) == NativeMemory.getLong(right + 8)
				&& NativeMemory.getLong(left + 16) == NativeMemory.getLong(right + 16)
				&& NativeMemory.getLong(left + 24) == NativeMemory.getLong(right + 24);
	}

	/** A hash of a fingerprint in native memory and of those before it. */
	public static long hash(long address, long before) {
		long hash = (before ^ NativeMemory.getLong(address)) * HASH_FACTOR;
		hash = (hash ^ hash >>> 32 ^ NativeMemory.getLong(address + 8)) * HASH_FACTOR;
		hash = (hash ^ hash >>> 32 ^ NativeMemory.getLong(address + 16)) * HASH_FACTOR;
		hash = (hash ^ hash >>> 32 ^ NativeMemory.getLong(address + 24)) * HASH_FACTOR;
		return hash ^ hash >>> 32;
	}

	/**
	 * Takes a fingerprint in native memory apart.
	 * @throws IllegalArgumentException if the bytes are no fingerprint
	 */
	public static CallSignature read(long address) {
		long last = NativeMemory.getLong(address + 24);
		if ((int) (last >> 32) != MARK) {
			throw new IllegalArgumentException("the stream is out of step: these bytes are no fingerprint");
		}
		long what = NativeMemory.getLong(address + 16);
		return new CallSignature(NativeMemory.getLong(address), Collective.ofOrdinal((int) (what >> 16 & 0xff)),
				NativeMemory.getLong(address + 8), (int) last, DataType.ofOrdinal((int) (what >> 8 & 0xff)),
				ReduceOp.ofOrdinal((int) (what & 0xff)), (int) (what >> 32));
	}

}
