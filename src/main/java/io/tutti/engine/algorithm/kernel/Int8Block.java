package io.tutti.engine.algorithm.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import io.tutti.engine.NativeMemory;
import io.tutti.engine.ReduceOp;

/**
 * Blocks of INT8 elements.
 */
final class Int8Block implements Block {

	private static final ValueLayout.OfByte ELEMENT = ValueLayout.JAVA_BYTE;

	private final byte[] left = new byte[BYTES / 1];

	private final byte[] right = new byte[BYTES / 1];

	@Override
	public void reduce(ReduceOp op, long target, long left, long right, int count) {
		MemorySegment.copy(NativeMemory.ALL, ELEMENT, left, this.left, 0, count);
		MemorySegment.copy(NativeMemory.ALL, ELEMENT, right, this.right, 0, count);
		switch (op) {
			case SUM, AVERAGE -> sum(count);
			case PRODUCT -> product(count);
			case MIN -> min(count);
			case MAX -> max(count);
		}
		MemorySegment.copy(this.left, 0, NativeMemory.ALL, ELEMENT, target, count);
	}

	@Override
	public void divide(long target, int count, int divisor) {
		MemorySegment.copy(NativeMemory.ALL, ELEMENT, target, this.left, 0, count);
		for (int i = 0; i < count; i++) {
			this.left[i] = (byte) (this.left[i] / divisor);
		}
		MemorySegment.copy(this.left, 0, NativeMemory.ALL, ELEMENT, target, count);
	}

	private void sum(int count) {
		for (int i = 0; i < count; i++) {
			this.left[i] = (byte) (this.left[i] + this.right[i]);
		}
	}

	private void product(int count) {
		for (int i = 0; i < count; i++) {
			this.left[i] = (byte) (this.left[i] * this.right[i]);
		}
	}

	private void min(int count) {
		for (int i = 0; i < count; i++) {
			this.left[i] = (byte) (Math.min(this.left[i], this.right[i]));
		}
	}

	private void max(int count) {
		for (int i = 0; i < count; i++) {
			this.left[i] = (byte) (Math.max(this.left[i], this.right[i]));
		}
	}

}
