package io.tutti.engine.backend.nccl;

import org.bytedeco.cuda.cudart.CUstream_st;
import org.bytedeco.javacpp.Pointer;
import org.jspecify.annotations.Nullable;

/**
 * An address or a handle as a JavaCPP pointer.
 */
final class PresetPointer extends Pointer {

	PresetPointer(long address) {
		this.address = address;
	}

	/** A stream, {@code null} for the default stream. */
	static @Nullable CUstream_st stream(long handle) {
		return (handle != 0) ? new CUstream_st(new PresetPointer(handle)) : null;
	}

}
