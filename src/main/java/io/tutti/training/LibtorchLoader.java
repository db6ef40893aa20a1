package io.tutti.training;

import java.time.Duration;

import io.tutti.engine.javacpp.NativeLibraryPreparation;
import io.tutti.training.internal.ProcessEnd;

/**
 * Loads libtorch before its first use. Loading takes a second or more; ranks that load it
 * after rendezvous would wait for each other inside a collective.
 */
public final class LibtorchLoader {

	private static final Duration LONGEST_LOAD = Duration.ofSeconds(10);

	private LibtorchLoader() {
	}

	/**
	 * Starts loading on a separate thread. The next caller that uses libtorch waits for
	 * it, and so does the end of the process: while a library loads, its finalizers would
	 * crash the process. If libtorch has to be unpacked first, this method does so before
	 * it returns.
	 * @throws io.tutti.BackendUnavailableException if libtorch cannot be unpacked
	 */
	public static void begin() {
		NativeLibraryPreparation.prepare();
		Thread loading = Thread.ofPlatform().name("tutti-preload").daemon().start(LibtorchLoader::load);
		Thread atEnd = Thread.ofPlatform().name("tutti-preloaded").unstarted(() -> awaitEnd(loading));
		try {
			Runtime.getRuntime().addShutdownHook(atEnd);
		}
		catch (IllegalStateException ex) {
			// The process ends already.
		}
	}

	private static void awaitEnd(Thread loading) {
		try {
			loading.join(LONGEST_LOAD);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private static void load() {
		try {
			ProcessEnd.skipFinalizers();
		}
		catch (LinkageError | RuntimeException ex) {
			// The job that uses libtorch fails in the same way and reports it.
		}
	}

}
