package io.tutti.engine.backend.nccl;

import io.tutti.engine.BackendUnavailableException;
import org.junit.jupiter.api.Assumptions;

/**
 * The GPU that tests tagged {@code gpu} run on. Where there is none they are skipped, and
 * say what is missing. Started by itself it says what there is.
 */
final class Gpu {

	private Gpu() {
	}

	/** NCCL and a device, or the end of the test. */
	static NcclLibrary require() {
		NcclAvailability found = new NcclProbe().look();
		Assumptions.assumeTrue(found.available(), () -> "no GPU to test on: " + found);
		return NcclLibrary.load();
	}

	/** Prints what there is; ends with 64 where nothing can be tested. */
	public static void main(String[] arguments) {
		try {
			System.out.println(NcclLibrary.load().availability());
		}
		catch (BackendUnavailableException ex) {
			System.out.println(ex.getMessage());
			System.exit(64);
		}
	}

}
