package io.tutti.training.internal;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import io.tutti.DataType;
import io.tutti.ProcessGroup;

/**
 * All-gathers one text per rank, to compare values that must be equal.
 */
public final class TextGather {

	/** Maximum length of a text; far larger than a model's layout. */
	private static final int MAX_BYTES = 16 << 20;

	private TextGather() {
	}

	/** The ranks' texts, by rank. A collective call. */
	public static List<String> allGather(ProcessGroup group, String text) {
		byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
		if (bytes.length > MAX_BYTES) {
			throw new IllegalArgumentException(
					"a text to compare is " + bytes.length + " bytes, more than " + MAX_BYTES);
		}
		int[] lengths = gatherLengths(group, bytes.length);
		int elements = Math.ceilDiv(Arrays.stream(lengths).max().orElseThrow(), Integer.BYTES);
		int slot = elements * Integer.BYTES;
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

}
