package io.tutti.engine.backend.nccl;

import io.tutti.Collective;
import io.tutti.ReduceOp;
import io.tutti.engine.device.DeviceDataType;

/**
 * Runs {@link GpuIdentityTest} in a separate process with stub libraries for CUDA and
 * NCCL.
 */
final class StubbedGpu {

	private StubbedGpu() {
	}

	public static void main(String[] arguments) {
		GpuIdentityTest.form();
		GpuIdentityTest test = new GpuIdentityTest();
		long[] done = new long[1];
		GpuIdentityTest.everything().map((each) -> each.get()).forEach((each) -> {
			test.aRankAloneGetsItsOwnOperandBack((Collective) each[0], (DeviceDataType) each[1], (ReduceOp) each[2]);
			done[0]++;
		});
		test.aFactorIsMultipliedIn();
		test.aRankMayWriteToItselfInOneGroup();
		test.aPartAndRegisteredMemoryWork();
		GpuIdentityTest.close();
		System.out.println(done[0] + " identities hold");
	}

}
