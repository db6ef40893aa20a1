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
 * Sets the socket option TCP_CONGESTION, which the JDK does not support. Within one host
 * an algorithm for long-distance links (bbr) has half the bandwidth of cubic or reno. The
 * channel's file descriptor is accessible only if {@code java.base/sun.nio.ch} is opened.
 * If it is not, or the kernel lacks the algorithm, the system default stays in effect.
 */
final class CongestionControl {

	/** The name that selects the system default. */
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
	 * Selects an algorithm. Does nothing if it is the system default.
	 * @return {@code null} if the channel uses it, otherwise the reason why not
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
