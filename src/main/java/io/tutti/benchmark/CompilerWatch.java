package io.tutti.benchmark;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

/**
 * Tells whether the JIT compiler of this JVM is busy. The compiler needs a core. If the
 * ranks occupy all cores, measurements during compilation include the time lost to it.
 * Compilation lasts for seconds after an application has started.
 */
final class CompilerWatch {

	/** Window over which compilation time is measured. */
	private static final long WINDOW_NANOS = 100_000_000;

	/** Compilation time in a window up to which the compiler counts as idle. */
	private static final long IDLE_MILLIS = 10;

	private final LongSupplier nanoTime;

	private final LongSupplier compiledMillis;

	private long windowStart;

	private long millisAtWindowStart;

	private boolean busy = true;

	CompilerWatch(LongSupplier nanoTime, LongSupplier compiledMillis) {
		this.nanoTime = nanoTime;
		this.compiledMillis = compiledMillis;
		this.windowStart = nanoTime.getAsLong();
		this.millisAtWindowStart = compiledMillis.getAsLong();
	}

	/**
	 * A watch of this JVM's compiler; never busy if the JVM does not report compilation
	 * time.
	 */
	static CompilerWatch ofThisJvm() {
		CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
		return new CompilerWatch(System::nanoTime, reportsTime(compiler) ? compiler::getTotalCompilationTime : () -> 0);
	}

	private static boolean reportsTime(@Nullable CompilationMXBean compiler) {
		return compiler != null && compiler.isCompilationTimeMonitoringSupported();
	}

	/**
	 * Whether the compiler was busy in the latest complete window; initially
	 * {@code true}.
	 */
	boolean busy() {
		long now = this.nanoTime.getAsLong();
		if (now - this.windowStart >= WINDOW_NANOS) {
			long millis = this.compiledMillis.getAsLong();
			this.busy = millis - this.millisAtWindowStart > IDLE_MILLIS;
			this.windowStart = now;
			this.millisAtWindowStart = millis;
		}
		return this.busy;
	}

}
