package io.tutti.training;

import io.tutti.engine.javacpp.NativeLibraryPreparation;
import org.bytedeco.javacpp.Loader;
import org.bytedeco.pytorch.global.torch;

/**
 * Loads libtorch ahead of its first use, which takes a second or more: ranks that load it
 * after they have met would wait for each other inside a collective.
 */
public final class Preload {

	private Preload() {
	}

	/**
	 * Begins to load on a thread of its own; whoever uses libtorch next waits for it.
	 * Where libtorch has to be unpacked first, that is done before this returns.
	 * @throws io.tutti.engine.BackendUnavailableException if it cannot be unpacked
	 */
	public static void begin() {
		NativeLibraryPreparation.prepare();
		Thread.ofPlatform().name("tutti-preload").daemon().start(Preload::load);
	}

	private static void load() {
		try {
			Loader.load(torch.class);
		}
		catch (LinkageError ex) {
			// The first use meets the same error, where there is somebody to tell.
		}
	}

}
