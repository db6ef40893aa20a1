package io.tutti.engine.backend.nccl;

import io.tutti.Collective;
import io.tutti.ReduceOp;
import io.tutti.engine.device.DeviceDataType;
import io.tutti.engine.device.DeviceException;
import io.tutti.engine.device.DeviceRuntime;
import org.bytedeco.cuda.global.cudart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

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
		onlyAnInvalidAddressIsHostMemory();
		onlyTheFirstDeviceIsInUse();
		GpuIdentityTest.close();
		System.out.println(done[0] + " identities hold");
	}

	/** The stub fails with the address as the error. */
	private static void onlyAnInvalidAddressIsHostMemory() {
		DeviceRuntime runtime = new PresetDeviceRuntime();
		assertThat(runtime.deviceOf(1 << 20)).isZero();
		assertThat(runtime.deviceOf(1)).isEqualTo(DeviceRuntime.NO_DEVICE);
		assertThatExceptionOfType(DeviceException.class).isThrownBy(() -> runtime.deviceOf(700))
			.satisfies((ex) -> assertThat(ex.code()).isEqualTo(700));
		assertThat(cudart.cudaGetLastError()).as("error left for the next call").isZero();
	}

	private static void onlyTheFirstDeviceIsInUse() {
		DeviceRuntime runtime = new PresetDeviceRuntime();
		assertThat(runtime.isInUse(0)).isTrue();
		assertThat(runtime.isInUse(1)).isFalse();
	}

}
