package io.tutti.engine.transport.tcp;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.reflect.Field;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;

import io.tutti.engine.spi.CLibrary;
import org.jspecify.annotations.Nullable;

/**
 * Sets TCP_CONGESTION, which the JDK has no option for. Inside one host an algorithm made
 * for long lines (bbr) halves the bandwidth of cubic or reno. Needs the channel's file
 * descriptor, which the JDK shows only where {@code java.base/sun.nio.ch} is opened;
 * where it is not, or the kernel lacks the algorithm, the system's own stays. Where the
 * system's own is the one asked for, nothing is set.
 */
final class CongestionControl {

	/** The name that leaves the system's choice alone. */
	static final String SYSTEM = "system";

	private static final @Nullable String DEFAULT = systemDefault();

	private static final int IPPROTO_TCP = 6;

	private static final int TCP_CONGESTION = 13;

	private static final @Nullable MethodHandle SET_SOCKET_OPTION = CLibrary.find("setsockopt",
			FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT,
					ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT));

	private CongestionControl() {
	}

	/**
	 * Asks for an algorithm.
	 * @return {@code null} if the channel has it, otherwise why not
	 */
	static @Nullable String set(SocketChannel channel, String algorithm) {
		if (algorithm.equals(DEFAULT)) {
			return null;
		}
		MethodHandle setSocketOption = SET_SOCKET_OPTION;
		if (setSocketOption == null) {
			return "this platform has no setsockopt";
		}
		try (Arena arena = Arena.ofConfined()) {
			MemorySegment name = arena.allocateFrom(algorithm);
			int result = (int) setSocketOption.invokeExact(descriptor(channel), IPPROTO_TCP, TCP_CONGESTION, name,
					(int) name.byteSize() - 1);
			return (result == 0) ? null : "the kernel does not offer " + algorithm;
		}
		catch (ReflectiveOperationException | RuntimeException ex) {
			return "the JVM was started without --add-opens java.base/sun.nio.ch=ALL-UNNAMED";
		}
		catch (Throwable ex) {
			throw new IllegalStateException("setsockopt failed", ex);
		}
	}

	private static @Nullable String systemDefault() {
		try {
			return Files.readString(Path.of("/proc/sys/net/ipv4/tcp_congestion_control")).strip();
		}
		catch (IOException ex) {
			return null;
		}
	}

	private static int descriptor(SocketChannel channel) throws ReflectiveOperationException {
		Field field = channel.getClass().getDeclaredField("fdVal");
		field.setAccessible(true);
		return field.getInt(channel);
	}

}
