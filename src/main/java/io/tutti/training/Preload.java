package io.tutti.training;

import org.bytedeco.javacpp.Loader;
import org.bytedeco.pytorch.global.torch;

/**
 * Loads libtorch ahead of its first use, which takes a second or more: ranks that load it
 * after they have met would wait for each other inside a collective.
 */
public final class Preload {

	private Preload() {
	}

	/** Begins to load on a thread of its own; whoever uses libtorch next waits for it. */
	public static void begin() {
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
