package io.tutti.endtoend;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * A TAP device: frames that the kernel sends are read by this process, and frames that
 * this process writes are received by the kernel. Linux only; needs root.
 */
@SuppressWarnings("restricted")
final class TapDevice implements AutoCloseable {

	private static final Linker LINKER = Linker.nativeLinker();

	private static final MethodHandle OPEN = function("open", ValueLayout.JAVA_INT, ValueLayout.ADDRESS,
			ValueLayout.JAVA_INT);

	private static final MethodHandle IOCTL = LINKER.downcallHandle(
			LINKER.defaultLookup().findOrThrow("ioctl"), FunctionDescriptor.of(ValueLayout.JAVA_INT,
					ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.ADDRESS),
			Linker.Option.firstVariadicArg(2));

	private static final MethodHandle READ = function("read", ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT,
			ValueLayout.ADDRESS, ValueLayout.JAVA_LONG);

	private static final MethodHandle WRITE = function("write", ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT,
			ValueLayout.ADDRESS, ValueLayout.JAVA_LONG);

	private static final MethodHandle POLL = function("poll", ValueLayout.JAVA_INT, ValueLayout.ADDRESS,
			ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT);

	private static final MethodHandle CLOSE = function("close", ValueLayout.JAVA_INT, ValueLayout.JAVA_INT);

	private static final int READ_AND_WRITE = 2;

	private static final long SET_INTERFACE = 0x400454caL;

	private static final int INTERFACE_REQUEST_BYTES = 40;

	private static final int NAME_BYTES = 16;

	/** Plain Ethernet frames without a header before them. */
	private static final short TAP_WITHOUT_HEADER = 0x1002;

	private static final short READABLE = 1;

	private static final int MAX_FRAME_BYTES = 16 << 10;

	private final int descriptor;

	private final Arena arena = Arena.ofShared();

	private final MemorySegment incoming = this.arena.allocate(MAX_FRAME_BYTES);

	private final MemorySegment outgoing = this.arena.allocate(MAX_FRAME_BYTES);

	private final MemorySegment polled = this.arena.allocate(8, 4);

	TapDevice(String name) throws IOException {
		this.descriptor = (int) check("open /dev/net/tun",
				() -> (int) OPEN.invokeExact(this.arena.allocateFrom("/dev/net/tun"), READ_AND_WRITE));
		MemorySegment request = this.arena.allocate(INTERFACE_REQUEST_BYTES);
		request.setString(0, name);
		request.set(ValueLayout.JAVA_SHORT, NAME_BYTES, TAP_WITHOUT_HEADER);
		check("make " + name, () -> (int) IOCTL.invokeExact(this.descriptor, SET_INTERFACE, request));
		this.polled.set(ValueLayout.JAVA_INT, 0, this.descriptor);
		this.polled.set(ValueLayout.JAVA_SHORT, 4, READABLE);
	}

	/** The next frame, or an empty one if none arrives in time. Not thread-safe. */
	byte[] receive(int waitMillis) throws IOException {
		if (check("poll", () -> (int) POLL.invokeExact(this.polled, 1L, waitMillis)) == 0) {
			return new byte[0];
		}
		long bytes = check("read",
				() -> (long) READ.invokeExact(this.descriptor, this.incoming, (long) MAX_FRAME_BYTES));
		return this.incoming.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE);
	}

	/** Delivers a frame. The kernel drops it while the device is down. */
	void send(byte[] frame) throws IOException {
		MemorySegment.copy(frame, 0, this.outgoing, ValueLayout.JAVA_BYTE, 0, frame.length);
		check("write",
				() -> Math.max(0L, (long) WRITE.invokeExact(this.descriptor, this.outgoing, (long) frame.length)));
	}

	/** Removes the device. Call it when no thread sends or receives any more. */
	@Override
	public void close() {
		try {
			check("close", () -> (int) CLOSE.invokeExact(this.descriptor));
		}
		catch (IOException ex) {
			// The device disappears with the process.
		}
		this.arena.close();
	}

	private static MethodHandle function(String name, ValueLayout result, ValueLayout... parameters) {
		return LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow(name),
				FunctionDescriptor.of(result, parameters));
	}

	private static long check(String what, SystemCall call) throws IOException {
		long result;
		try {
			result = call.run();
		}
		catch (Throwable ex) {
			throw new IOException(what + " failed", ex);
		}
		if (result < 0) {
			throw new IOException(what + " was refused");
		}
		return result;
	}

	@FunctionalInterface
	private interface SystemCall {

		long run() throws Throwable;

	}

}
