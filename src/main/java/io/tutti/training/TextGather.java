package io.tutti.training;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import io.tutti.engine.DataType;
import io.tutti.engine.ProcessGroup;

/**
 * Gives every rank the text of every rank: for comparing what should be the same.
 */
final class TextGather {

	/** Longest text; far above a model's layout. */
	private static final int MAX_BYTES = 16 << 20;

	private TextGather() {
	}

	/** The ranks' texts, by rank. A collective call. */
	static List<String> allGather(ProcessGroup group, String text) {
		byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
		if (bytes.length > MAX_BYTES) {
			throw new IllegalArgumentException(
					"a text to compare is " + bytes.length + " bytes, more than " + MAX_BYTES);
		}
		int[] lengths = gatherLengths(group, bytes.length);
		int slot = roundedUp(Arrays.stream(lengths).max().orElseThrow());
		byte[] all = new byte[Math.multiplyExact(slot, group.worldSize())];
		group.allGather(MemorySegment.ofArray(Arrays.copyOf(bytes, slot)), MemorySegment.ofArray(all), DataType.INT32);
		List<String> texts = new ArrayList<>();
		for (int rank = 0; rank < lengths.length; rank++) {
			texts.add(new String(all, rank * slot, lengths[rank], StandardCharsets.UTF_8));
		}
		return texts;
	}

	private static int[] gatherLengths(ProcessGroup group, int length) {
		int[] lengths = new int[group.worldSize()];
		group.allGather(MemorySegment.ofArray(new int[] { length }), MemorySegment.ofArray(lengths), DataType.INT32);
		for (int other : lengths) {
			if (other < 0 || other > MAX_BYTES) {
				throw new IllegalStateException("a rank announced a text of " + other + " bytes");
			}
		}
		return lengths;
	}

	/** Collectives move whole 32-bit elements. */
	private static int roundedUp(int bytes) {
		return (bytes + Integer.BYTES - 1) / Integer.BYTES * Integer.BYTES;
	}

}
