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

	/**
	 * Idle windows in a row after which the compiler is idle. The JVM adds the time of a
	 * compilation when it ends, so that one longer than a window leaves a window idle.
	 */
	private static final int IDLE_WINDOWS = 2;

	private final LongSupplier nanoTime;

	private final LongSupplier compiledMillis;

	private long windowStart;

	private long millisAtWindowStart;

	private int idleWindows;

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
	 * Whether the compiler was busy in one of the latest two complete windows; initially
	 * {@code true}.
	 */
	boolean busy() {
		long now = this.nanoTime.getAsLong();
		if (now - this.windowStart >= WINDOW_NANOS) {
			long millis = this.compiledMillis.getAsLong();
			this.idleWindows = (millis - this.millisAtWindowStart > IDLE_MILLIS) ? 0 : this.idleWindows + 1;
			this.windowStart = now;
			this.millisAtWindowStart = millis;
		}
		return this.idleWindows < IDLE_WINDOWS;
	}

}
