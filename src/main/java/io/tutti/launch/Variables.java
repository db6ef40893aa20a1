package io.tutti.launch;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * The environment and the properties of this process, and a record of what was read from
 * them: what was used, and what is worth a line although it was not followed.
 */
final class Variables {

	private final Map<String, String> values;

	private final Map<String, String> used = new LinkedHashMap<>();

	private final Set<String> notes = new LinkedHashSet<>();

	Variables(Map<String, String> environment, ResolutionSettings settings) {
		this.values = new HashMap<>(environment);
		this.values.putAll(settings.asVariables());
	}

	boolean has(String name) {
		return this.values.containsKey(name);
	}

	/** A value that is looked at without being followed. */
	@Nullable String peek(String name) {
		return this.values.get(name);
	}

	/** A value that is followed if it is set. */
	@Nullable String text(String name) {
		String value = this.values.get(name);
		if (value != null) {
			this.used.put(name, value);
		}
		return value;
	}

	/** A host name or address that is followed if it is set; it must not be blank. */
	@Nullable String host(String name) {
		String value = text(name);
		if (value != null && (value.isBlank() || value.chars().anyMatch(Character::isWhitespace))) {
			throw new ResolutionException(name, "'" + value + "'", "a host name or an address");
		}
		return value;
	}

	/** A whole number that is followed if it is set. */
	@Nullable Integer number(String name, int least, int most, String reason) {
		String value = text(name);
		return (value != null) ? WholeNumber.parse(name, value, least, most, reason) : null;
	}

	/** A whole number without which the set is not whole. */
	int requiredNumber(String name, int least, int most, String reason) {
		Integer value = number(name, least, most, reason);
		if (value == null) {
			throw new ResolutionException(name, null, "a whole number in " + least + ".." + most + " (" + reason + ")");
		}
		return value;
	}

	/** A port that is followed if it is set. */
	@Nullable Integer port(String name) {
		return number(name, 1, WholeNumber.MAX_PORT, "a port");
	}

	/** Keeps a line about something that was seen and not followed. */
	void note(String line) {
		this.notes.add(line);
	}

	/** {@code NAME=value}, for a line. */
	String show(String name) {
		return name + "=" + this.values.get(name);
	}

	Map<String, String> used() {
		return this.used;
	}

	List<String> notes() {
		return new ArrayList<>(this.notes);
	}

}
