package io.tutti.engine.backend.nccl;

import io.tutti.engine.Collective;
import io.tutti.engine.ReduceOp;
import io.tutti.engine.device.DeviceDataType;

/**
 * The GPU's identity test in a process of its own, whose CUDA and NCCL are the stubs.
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
