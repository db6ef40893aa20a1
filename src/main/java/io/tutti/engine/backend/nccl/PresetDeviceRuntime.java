package io.tutti.engine.backend.nccl;

import io.tutti.engine.device.DeviceException;
import io.tutti.engine.device.DeviceRuntime;
import org.bytedeco.cuda.cudart.CUstream_st;
import org.bytedeco.cuda.cudart.cudaPointerAttributes;
import org.bytedeco.cuda.global.cudart;
import org.bytedeco.javacpp.Loader;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.PointerPointer;
import org.jspecify.annotations.Nullable;

/**
 * The CUDA runtime through the JavaCPP preset. Loaded only after a successful probe. All
 * objects are equal, since a process has one CUDA runtime.
 */
record PresetDeviceRuntime() implements DeviceRuntime {

	/** An address as a JavaCPP pointer. */
	private static final class Address extends Pointer {

		Address(long address) {
			this.address = address;
		}

	}

	/**
	 * Loads the preset's native library, so that a missing one fails here.
	 * @throws LinkageError if it or a library it depends on cannot be loaded
	 */
	PresetDeviceRuntime() {
		Loader.load(cudart.class);
	}

	private static @Nullable CUstream_st stream(long handle) {
		return (handle != DEFAULT_STREAM) ? new CUstream_st(new Address(handle)) : null;
	}

	private static void require(String call, int code) {
		if (code != cudart.cudaSuccess) {
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

	@Override
	public long allocate(long bytes) {
		try (PointerPointer<Pointer> made = new PointerPointer<>(1)) {
			require("cudaMalloc of " + bytes + " bytes", cudart.cudaMalloc(made, bytes));
			return made.get(0).address();
		}
	}

	@Override
	public void free(long address) {
		require("cudaFree", cudart.cudaFree(new Address(address)));
	}

	@Override
	public long allocatePinned(long bytes) {
		try (PointerPointer<Pointer> made = new PointerPointer<>(1)) {
			require("cudaMallocHost of " + bytes + " bytes", cudart.cudaMallocHost(made, bytes));
			return made.get(0).address();
		}
	}

	@Override
	public void freePinned(long address) {
		require("cudaFreeHost", cudart.cudaFreeHost(new Address(address)));
	}

	/** An address that CUDA does not know is in plain host memory. */
	@Override
	public int deviceOf(long address) {
		try (cudaPointerAttributes attributes = new cudaPointerAttributes()) {
			int code = cudart.cudaPointerGetAttributes(attributes, new Address(address));
			if (code == cudart.cudaErrorInvalidValue) {
				cudart.cudaGetLastError();
				return NO_DEVICE;
			}
			require("cudaPointerGetAttributes", code);
			boolean onDevice = attributes.type() == cudart.cudaMemoryTypeDevice
					|| attributes.type() == cudart.cudaMemoryTypeManaged;
			return onDevice ? attributes.device() : NO_DEVICE;
		}
	}

	@Override
	public void copy(long target, long source, long bytes, long stream) {
		if (bytes > 0) {
			require("cudaMemcpyAsync of " + bytes + " bytes", cudart.cudaMemcpyAsync(new Address(target),
					new Address(source), bytes, cudart.cudaMemcpyDefault, stream(stream)));
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
		require("cudaStreamDestroy", cudart.cudaStreamDestroy(stream(stream)));
	}

	@Override
	public boolean isIdle(long stream) {
		int code = cudart.cudaStreamQuery(stream(stream));
		if (code == cudart.cudaErrorNotReady) {
			return false;
		}
		require("cudaStreamQuery", code);
		return true;
	}

}
