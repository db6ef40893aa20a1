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
 * The environment and the properties of this process. Records the variables that are
 * used, and notes about variables that are not.
 */
final class Variables {

	private final Map<String, String> values;

	private final Map<String, String> used = new LinkedHashMap<>();

	private final Set<String> notes = new LinkedHashSet<>();

	Variables(Map<String, String> environment, ResolutionSettings settings) {
		this.values = new HashMap<>(environment);
		this.values.putAll(settings.variables());
	}

	boolean has(String name) {
		return this.values.containsKey(name);
	}

	/** A value that is inspected without being recorded as used. */
	@Nullable String peek(String name) {
		return this.values.get(name);
	}

	/** A value that is used if it is set. */
	@Nullable String text(String name) {
		String value = this.values.get(name);
		if (value != null) {
			this.used.put(name, value);
		}
		return value;
	}

	/** A host name or address that is used if it is set; it must not be blank. */
	@Nullable String host(String name) {
		String value = text(name);
		if (value != null && (value.isBlank() || value.chars().anyMatch(Character::isWhitespace))) {
			throw new ResolutionException(name, "'" + value + "'", "a host name or an address");
		}
		return value;
	}

	/** An integer that is used if it is set. */
	@Nullable Integer number(String name, int least, int most, String reason) {
		String value = text(name);
		return (value != null) ? WholeNumber.parse(name, value, least, most, reason) : null;
	}

	/** An integer without which the set is incomplete. */
	int requiredNumber(String name, int least, int most, String reason) {
		Integer value = number(name, least, most, reason);
		if (value == null) {
			throw new ResolutionException(name, null, "a whole number in " + least + ".." + most + " (" + reason + ")");
		}
		return value;
	}

	/** A port that is used if it is set. */
	@Nullable Integer port(String name) {
		return number(name, 1, WholeNumber.MAX_PORT, "a port");
	}

	/** Records a note about a variable that is set but not used. */
	void note(String line) {
		this.notes.add(line);
	}

	/** {@code NAME=value}, for messages. */
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
