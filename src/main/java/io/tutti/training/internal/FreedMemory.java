package io.tutti.training.internal;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Map;

import io.tutti.engine.spi.CLibrary;

/**
 * What the C library does with memory that is freed. A step that drops its gradients
 * frees and allocates all of them. By default glibc returns such memory to the kernel,
 * and each new gradient costs one page fault per 4 KiB: 23 of 68 ms for 42 MB.
 */
public final class FreedMemory {

	private static final int M_TRIM_THRESHOLD = -1;

	private static final int M_TOP_PAD = -2;

	private static final int M_MMAP_THRESHOLD = -3;

	private static final int NEVER = -1;

	/** The largest threshold that glibc takes. */
	private static final int LARGEST_BLOCK = 32 << 20;

	/** Size of a heap of a thread's arena; glibc unmaps an unused one otherwise. */
	private static final int HEAP = 64 << 20;

	private static boolean retained;

	private FreedMemory() {
	}

	/**
	 * From now on the C library keeps freed blocks of at most 32 MiB for later
	 * allocations of this process. Without effect if the user has configured glibc's
	 * allocator with {@code MALLOC_} variables or {@code GLIBC_TUNABLES}, and on a C
	 * library without {@code mallopt}. Idempotent.
	 */
	public static synchronized void retain() {
		if (!retained) {
			retained = true;
			if (!isConfigured(System.getenv())) {
				retainBlocks();
			}
		}
	}

	static boolean isConfigured(Map<String, String> environment) {
		return environment.containsKey("MALLOC_TRIM_THRESHOLD_") || environment.containsKey("MALLOC_MMAP_THRESHOLD_")
				|| environment.containsKey("MALLOC_TOP_PAD_") || environment.containsKey("MALLOC_MMAP_MAX_")
				|| environment.getOrDefault("GLIBC_TUNABLES", "").contains("glibc.malloc.");
	}

	private static void retainBlocks() {
		MethodHandle call = CLibrary.find("mallopt",
				FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
		if (call == null) {
			return;
		}
		try {
			int _ = (int) call.invokeExact(M_MMAP_THRESHOLD, LARGEST_BLOCK);
			int _ = (int) call.invokeExact(M_TOP_PAD, HEAP);
			int _ = (int) call.invokeExact(M_TRIM_THRESHOLD, NEVER);
		}
		catch (Throwable ex) {
			throw new IllegalStateException("mallopt failed", ex);
		}
	}

}
