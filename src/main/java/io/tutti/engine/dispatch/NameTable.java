package io.tutti.engine.dispatch;

import org.jspecify.annotations.Nullable;

/**
 * Texts by small numbers, so that a recorder keeps longs only. Number 0 is no text, and
 * what every text gets once the table is full. One thread writes at a time; any may read.
 */
final class NameTable {

	private final @Nullable String[] names;

	private volatile int size = 1;

	private String latest = "";

	private int latestNumber;

	NameTable(int capacity) {
		this.names = new String[capacity];
	}

	/** The number of a text; texts that come again and again are found at once. */
	int numberOf(String name) {
		if (name != this.latest) {
			this.latestNumber = name.isEmpty() ? 0 : find(name);
			this.latest = name;
		}
		return this.latestNumber;
	}

	private int find(String name) {
		for (int number = 1; number < this.size; number++) {
			if (name.equals(this.names[number])) {
				return number;
			}
		}
		if (this.size == this.names.length) {
			return 0;
		}
		this.names[this.size] = name;
		this.size++;
		return this.size - 1;
	}

	/** The text of a number, {@code null} for none. */
	@Nullable String name(int number) {
		return (number > 0 && number < this.size) ? this.names[number] : null;
	}

}
