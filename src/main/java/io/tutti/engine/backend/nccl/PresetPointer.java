package io.tutti.engine.backend.nccl;

import java.lang.foreign.MemorySegment;

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

	/**
	 * Native memory. Memory of JavaCPP's own cannot be allocated once the process uses
	 * more memory than a limit.
	 */
	static PresetPointer to(MemorySegment memory) {
		return new PresetPointer(memory.address());
	}

	/** A stream, {@code null} for the default stream. */
	static @Nullable CUstream_st stream(long handle) {
		return (handle != 0) ? new CUstream_st(new PresetPointer(handle)) : null;
	}

}
