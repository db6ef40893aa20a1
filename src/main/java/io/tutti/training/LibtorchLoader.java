package io.tutti.training;

import io.tutti.engine.javacpp.NativeLibraryPreparation;
import io.tutti.training.internal.ProcessEnd;

/**
 * Loads libtorch before its first use. Loading takes a second or more; ranks that load it
 * after rendezvous would wait for each other inside a collective.
 */
public final class LibtorchLoader {

	private LibtorchLoader() {
	}

	/**
	 * Starts loading on a separate thread. The next caller that uses libtorch waits for
	 * it. If libtorch has to be unpacked first, this method does so before it returns.
	 * @throws io.tutti.BackendUnavailableException if libtorch cannot be unpacked
	 */
	public static void begin() {
		NativeLibraryPreparation.prepare();
		Thread.ofPlatform().name("tutti-preload").daemon().start(LibtorchLoader::load);
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
