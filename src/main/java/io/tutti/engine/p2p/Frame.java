package io.tutti.engine.p2p;

import io.tutti.engine.spi.NativeMemory;

/**
 * The header of 40 bytes before everything that one rank sends another.
 */
final class Frame {

	/** Size in bytes. */
	static final int BYTES = 40;

	/** A message whose bytes follow. */
	static final int EAGER = 0;

	/**
	 * Ready to send: announces a large message, and a reference to it if the receiver can
	 * read the sender's memory.
	 */
	static final int RTS = 1;

	/** Clear to send: the receiver of an announced message is ready for its bytes. */
	static final int CTS = 2;

	/** The receiver of an announced message rejects it. */
	static final int NACK = 3;

	/** The bytes of an announced message follow. */
	static final int DATA = 4;

	/** Nothing but the credit that any frame may return. */
	static final int CREDIT = 5;

	/**
	 * The sender asks its receiver to forget an announced message that is not matched.
	 */
	static final int CANCEL = 6;

	/** The receiver has forgotten an announced message; a matched one has no answer. */
	static final int CANCELLED = 7;

	/** The receiver has read an announced message out of the sender's memory. */
	static final int READ = 8;

	/** In every frame: detects a stream that is out of sync. */
	private static final int MARK = 0x5475_7032;

	private Frame() {
	}

	/**
	 * Writes a frame.
	 * @param credit eager credit that it returns
	 * @param reference reference to an announced message, 0 if it cannot be read
	 */
	static void write(long address, int kind, int type, long bytes, int tag, long id, int credit, long reference) {
		NativeMemory.putLong(address, (long) MARK << 32 | (long) kind << 8 | type);
		NativeMemory.putLong(address + 8, bytes);
		NativeMemory.putLong(address + 16, (long) credit << 32 | tag);
		NativeMemory.putLong(address + 24, id);
		NativeMemory.putLong(address + 32, reference);
	}

	/** Whether the bytes are a valid frame. */
	static boolean isSound(long address) {
		long first = NativeMemory.getLong(address);
		return (int) (first >> 32) == MARK && kind(address) <= READ && bytes(address) >= 0 && tag(address) >= 0
				&& credit(address) >= 0 && (kind(address) != EAGER || bytes(address) <= MessageOperation.EAGER_BYTES);
	}

	static int kind(long address) {
		return (int) (NativeMemory.getLong(address) >> 8) & 0xff;
	}

	static int type(long address) {
		return (int) NativeMemory.getLong(address) & 0xff;
	}

	static long bytes(long address) {
		return NativeMemory.getLong(address + 8);
	}

	static int tag(long address) {
		return (int) NativeMemory.getLong(address + 16);
	}

	static int credit(long address) {
		return (int) (NativeMemory.getLong(address + 16) >> 32);
	}

	static long id(long address) {
		return NativeMemory.getLong(address + 24);
	}

	static long reference(long address) {
		return NativeMemory.getLong(address + 32);
	}

}
