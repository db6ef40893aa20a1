package io.tutti.benchmark;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

/**
 * Whether this JVM's compiler is at work: it needs a core, and where ranks have them all,
 * what is measured meanwhile is how they share one with it. It is behind for seconds
 * after an application has started.
 */
final class CompilerWatch {

	/** How much of the compiler's time is looked at together. */
	private static final long WINDOW_NANOS = 100_000_000;

	/** Milliseconds in a window up to which it counts as calm. */
	private static final long CALM_MILLIS = 10;

	private final LongSupplier nanoTime;

	private final LongSupplier compiledMillis;

	private long windowStart;

	private long millisBefore;

	private boolean busy = true;

	CompilerWatch(LongSupplier nanoTime, LongSupplier compiledMillis) {
		this.nanoTime = nanoTime;
		this.compiledMillis = compiledMillis;
		this.windowStart = nanoTime.getAsLong();
		this.millisBefore = compiledMillis.getAsLong();
	}

	/** Of this JVM; always calm where it does not tell. */
	static CompilerWatch ofThisJvm() {
		CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
		return new CompilerWatch(System::nanoTime, tells(compiler) ? compiler::getTotalCompilationTime : () -> 0);
	}

	private static boolean tells(@Nullable CompilationMXBean compiler) {
		return compiler != null && compiler.isCompilationTimeMonitoringSupported();
	}

	/** Whether it was at work in the latest whole window; at first it is taken to be. */
	boolean busy() {
		long now = this.nanoTime.getAsLong();
		if (now - this.windowStart >= WINDOW_NANOS) {
			long millis = this.compiledMillis.getAsLong();
			this.busy = millis - this.millisBefore > CALM_MILLIS;
			this.windowStart = now;
			this.millisBefore = millis;
		}
		return this.busy;
	}

}
