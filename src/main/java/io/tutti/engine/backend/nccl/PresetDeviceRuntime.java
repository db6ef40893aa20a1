package io.tutti.engine.backend.nccl;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import io.tutti.engine.device.DeviceException;
import io.tutti.engine.device.DeviceRuntime;
import org.bytedeco.cuda.cudart.CUstream_st;
import org.bytedeco.cuda.cudart.cudaPointerAttributes;
import org.bytedeco.cuda.global.cudart;
import org.bytedeco.javacpp.Loader;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.PointerPointer;

/**
 * The CUDA runtime through the JavaCPP preset. Loaded only after a successful probe. All
 * objects are equal, since a process has one CUDA runtime.
 */
record PresetDeviceRuntime() implements DeviceRuntime {

	/**
	 * Loads the preset's native library, so that a missing one fails here.
	 * @throws LinkageError if it or a library it depends on cannot be loaded
	 */
	PresetDeviceRuntime() {
		Loader.load(cudart.class);
	}

	/**
	 * Memory of one thread for the results of calls. It is none of JavaCPP's, which
	 * allocates nothing once the process uses more memory than a limit.
	 */
	private static final ThreadLocal<Results> RESULTS = ThreadLocal.withInitial(Results::new);

	private static final class Results {

		private final MemorySegment memory = Arena.ofAuto()
			.allocate(Loader.sizeof(cudaPointerAttributes.class), Long.BYTES);

		private final cudaPointerAttributes attributes = new cudaPointerAttributes(PresetPointer.to(this.memory));

		private final PointerPointer<Pointer> pointer = new PointerPointer<>(PresetPointer.to(this.memory));

		private long address() {
			return this.memory.get(ValueLayout.JAVA_LONG, 0);
		}

	}

	/** Leaves no error for the next call that checks for one, such as of libtorch. */
	private static void require(String call, int code) {
		if (code != cudart.cudaSuccess) {
			cudart.cudaGetLastError();
			throw new DeviceException(call, code, cudart.cudaGetErrorString(code).getString());
		}
	}

	@Override
	public int deviceCount() {
		int[] count = new int[1];
		require("cudaGetDeviceCount", cudart.cudaGetDeviceCount(count));
		return count[0];
	}

	@Override
	public int currentDevice() {
		int[] device = new int[1];
		require("cudaGetDevice", cudart.cudaGetDevice(device));
		return device[0];
	}

	@Override
	public void selectDevice(int device) {
		require("cudaSetDevice", cudart.cudaSetDevice(device));
	}

	/** A device has then a context of this process, which its selection would create. */
	@Override
	public boolean isInUse(int device) {
		int[] flags = new int[1];
		int[] active = new int[1];
		int code = cudart.cuDevicePrimaryCtxGetState(device, flags, active);
		if (code != cudart.CUDA_SUCCESS) {
			throw new DeviceException("cuDevicePrimaryCtxGetState", code, "see CUresult in cuda.h");
		}
		return active[0] != 0;
	}

	@Override
	public long allocate(long bytes) {
		Results results = RESULTS.get();
		require("cudaMalloc of " + bytes + " bytes", cudart.cudaMalloc(results.pointer, bytes));
		return results.address();
	}

	@Override
	public void free(long address) {
		require("cudaFree", cudart.cudaFree(new PresetPointer(address)));
	}

	@Override
	public long allocatePinned(long bytes) {
		Results results = RESULTS.get();
		require("cudaMallocHost of " + bytes + " bytes", cudart.cudaMallocHost(results.pointer, bytes));
		return results.address();
	}

	@Override
	public void freePinned(long address) {
		require("cudaFreeHost", cudart.cudaFreeHost(new PresetPointer(address)));
	}

	/** An address that CUDA does not know is in plain host memory. */
	@Override
	public int deviceOf(long address) {
		cudaPointerAttributes attributes = RESULTS.get().attributes;
		int code = cudart.cudaPointerGetAttributes(attributes, new PresetPointer(address));
		if (code == cudart.cudaErrorInvalidValue) {
			cudart.cudaGetLastError();
			return NO_DEVICE;
		}
		require("cudaPointerGetAttributes", code);
		boolean onDevice = attributes.type() == cudart.cudaMemoryTypeDevice
				|| attributes.type() == cudart.cudaMemoryTypeManaged;
		return onDevice ? attributes.device() : NO_DEVICE;
	}

	@Override
	public void copy(long target, long source, long bytes, long stream) {
		if (bytes > 0) {
			require("cudaMemcpyAsync of " + bytes + " bytes", cudart.cudaMemcpyAsync(new PresetPointer(target),
					new PresetPointer(source), bytes, cudart.cudaMemcpyDefault, PresetPointer.stream(stream)));
		}
	}

	@Override
	public long createStream() {
		CUstream_st made = new CUstream_st();
		require("cudaStreamCreateWithFlags", cudart.cudaStreamCreateWithFlags(made, cudart.cudaStreamNonBlocking));
		return made.address();
	}

	@Override
	public void destroyStream(long stream) {
		require("cudaStreamDestroy", cudart.cudaStreamDestroy(PresetPointer.stream(stream)));
	}

	@Override
	public boolean isIdle(long stream) {
		int code = cudart.cudaStreamQuery(PresetPointer.stream(stream));
		if (code == cudart.cudaErrorNotReady) {
			cudart.cudaGetLastError();
			return false;
		}
		require("cudaStreamQuery", code);
		return true;
	}

}
