package io.tutti.service.config;

import java.util.Collection;
import java.util.Comparator;

import org.jspecify.annotations.Nullable;

/**
 * Finds what somebody probably meant to type: the name at the smallest edit distance
 * (letters inserted, removed or replaced), if that is small enough.
 */
final class NearestName {

	/** One slip in so many letters is a slip; more is another word. */
	private static final int LETTERS_PER_SLIP = 4;

	private NearestName() {
	}

	/** The nearest of some names, {@code null} if none is near. */
	static @Nullable String of(String typed, Collection<String> names) {
		return names.stream()
			.min(Comparator.<String>comparingInt((name) -> distance(typed, name))
				.thenComparing(Comparator.naturalOrder()))
			.filter((name) -> distance(typed, name) <= Math.max(1, typed.length() / LETTERS_PER_SLIP))
			.orElse(null);
	}

	/** Row by row, keeping the last one (Wagner and Fischer, 1974). */
	private static int distance(String one, String other) {
		int[] row = new int[other.length() + 1];
		for (int j = 0; j < row.length; j++) {
			row[j] = j;
		}
		for (int i = 1; i <= one.length(); i++) {
			int diagonal = row[0];
			row[0] = i;
			for (int j = 1; j < row.length; j++) {
				int replaced = diagonal + ((one.charAt(i - 1) == other.charAt(j - 1)) ? 0 : 1);
				diagonal = row[j];
				row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
			}
		}
		return row[other.length()];
	}

}
