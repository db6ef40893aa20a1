package io.tutti.engine.backend.nccl;

import io.tutti.BackendUnavailableException;
import org.junit.jupiter.api.Assumptions;

/**
 * The GPU for tests tagged {@code gpu}. Without one they are skipped and report what is
 * missing. The main method reports what is present.
 */
final class Gpu {

	private Gpu() {
	}

	/** Returns NCCL with a device, or aborts the test as skipped. */
	static NcclLibrary require() {
		NcclAvailability found = NcclAvailability.probe();
		Assumptions.assumeTrue(found.available(), () -> "no GPU to test on: " + found);
		return NcclLibrary.load();
	}

	/** Prints what is present; exits with 64 if no test can run. */
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
