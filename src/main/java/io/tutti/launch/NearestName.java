package io.tutti.launch;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

/**
 * Finds the most similar name: the one at the smallest edit distance (letters inserted,
 * removed, replaced, or swapped with a neighbour), if that distance is small enough.
 */
public final class NearestName {

	/** One edit per this many letters counts as a typing error, more as another word. */
	private static final int LETTERS_PER_SLIP = 4;

	private NearestName() {
	}

	/**
	 * The nearest of several names in lower case, {@code null} if none is near enough.
	 */
	public static @Nullable String of(String typed, Collection<String> names) {
		String lower = typed.toLowerCase(Locale.ROOT);
		return names.stream()
			.min(byDistance(lower))
			.filter((name) -> distance(lower, name) <= Math.max(1, lower.length() / LETTERS_PER_SLIP))
			.orElse(null);
	}

	/**
	 * The nearest of the names that differ in at most one letter, {@code null} if there
	 * is none. Hyphens, underscores and upper case do not count.
	 */
	static @Nullable String withinOneLetter(String typed, Collection<String> names) {
		return names.stream()
			.filter((name) -> distance(letters(typed), letters(name)) <= 1)
			.min(byDistance(typed))
			.orElse(null);
	}

	private static String letters(String name) {
		return name.replace("-", "").replace("_", "").toLowerCase(Locale.ROOT);
	}

	/** A question for the nearest name, or the other advice if none is near. */
	public static String advice(String typed, Collection<String> names, String otherwise) {
		String nearest = of(typed, names);
		return (nearest != null) ? "Did you mean " + nearest + "?" : otherwise;
	}

	private static Comparator<String> byDistance(String typed) {
		return Comparator.<String>comparingInt((name) -> distance(typed, name))
			.thenComparing(Comparator.naturalOrder());
	}

	/** The distance by optimal string alignment. */
	private static int distance(String one, String other) {
		int[][] distance = new int[one.length() + 1][other.length() + 1];
		for (int i = 0; i <= one.length(); i++) {
			for (int j = 0; j <= other.length(); j++) {
				distance[i][j] = (i == 0 || j == 0) ? i + j : least(one, i, other, j, distance);
			}
		}
		return distance[one.length()][other.length()];
	}

	private static int least(String one, int i, String other, int j, int[][] distance) {
		int replaced = distance[i - 1][j - 1] + ((one.charAt(i - 1) == other.charAt(j - 1)) ? 0 : 1);
		int least = Math.min(replaced, 1 + Math.min(distance[i - 1][j], distance[i][j - 1]));
		boolean swapped = i > 1 && j > 1 && one.charAt(i - 1) == other.charAt(j - 2)
				&& one.charAt(i - 2) == other.charAt(j - 1);
		return swapped ? Math.min(least, distance[i - 2][j - 2] + 1) : least;
	}

}
