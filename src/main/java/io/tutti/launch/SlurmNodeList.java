package io.tutti.launch;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Parses Slurm's notation for hosts: {@code node[01-03,7],gpu1} is node01, node02,
 * node03, node7, gpu1. A name may contain several brackets. The list is counted without
 * being expanded.
 *
 * @param first the first host
 * @param count number of hosts
 */
record SlurmNodeList(String first, long count) {

	private static final Pattern RANGE = Pattern.compile("([0-9]{1,9})(?:-([0-9]{1,9}))?");

	private static final Pattern BRACKET = Pattern.compile("\\[([^\\[\\]]*)]");

	private static final Pattern PLAIN = Pattern.compile("[^\\[\\],\\s]*");

	static SlurmNodeList parse(String variable, String text) {
		String first = "";
		long count = 0;
		for (String entry : entries(variable, text)) {
			SlurmNodeList hosts = parseEntry(variable, text, entry);
			first = first.isEmpty() ? hosts.first() : first;
			count = inRange(variable, text, count + hosts.count());
		}
		return new SlurmNodeList(first, count);
	}

	/** Splits at commas outside brackets. */
	private static List<String> entries(String variable, String text) {
		List<String> entries = new ArrayList<>();
		int start = 0;
		boolean inBracket = false;
		for (int i = 0; i < text.length(); i++) {
			char c = text.charAt(i);
			inBracket = (c == '[') || (inBracket && c != ']');
			if (c == ',' && !inBracket) {
				entries.add(text.substring(start, i));
				start = i + 1;
			}
		}
		entries.add(text.substring(start));
		if (inBracket) {
			throw malformed(variable, text);
		}
		return entries;
	}

	private static SlurmNodeList parseEntry(String variable, String text, String entry) {
		StringBuilder first = new StringBuilder();
		long count = 1;
		int end = 0;
		Matcher bracket = BRACKET.matcher(entry);
		while (bracket.find()) {
			first.append(plain(variable, text, entry.substring(end, bracket.start())));
			SlurmNodeList numbers = parseRanges(variable, text, bracket.group(1));
			first.append(numbers.first());
			count = inRange(variable, text, count * numbers.count());
			end = bracket.end();
		}
		first.append(plain(variable, text, entry.substring(end)));
		if (first.isEmpty()) {
			throw malformed(variable, text);
		}
		return new SlurmNodeList(first.toString(), count);
	}

	private static SlurmNodeList parseRanges(String variable, String text, String ranges) {
		String first = "";
		long count = 0;
		for (String range : ranges.split(",", -1)) {
			Matcher matcher = RANGE.matcher(range);
			if (!matcher.matches()) {
				throw malformed(variable, text);
			}
			first = first.isEmpty() ? matcher.group(1) : first;
			long low = Long.parseLong(matcher.group(1));
			long high = (matcher.group(2) != null) ? Long.parseLong(matcher.group(2)) : low;
			if (high < low) {
				throw malformed(variable, text);
			}
			count = inRange(variable, text, count + high - low + 1);
		}
		return new SlurmNodeList(first, count);
	}

	private static String plain(String variable, String text, String part) {
		if (!PLAIN.matcher(part).matches()) {
			throw malformed(variable, text);
		}
		return part;
	}

	/** Sums and products of two counts within this range do not overflow. */
	private static long inRange(String variable, String text, long count) {
		if (count > Integer.MAX_VALUE) {
			throw malformed(variable, text);
		}
		return count;
	}

	private static ResolutionException malformed(String variable, String text) {
		return new ResolutionException(variable, text, "a list of hosts such as node[01-03,7],gpu1");
	}

}
