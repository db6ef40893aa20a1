package io.tutti.engine.dispatch;

import org.jspecify.annotations.Nullable;

/**
 * Maps names to small numbers, so that a recorder stores only longs. Number 0 means no
 * name; once the table is full, every new name gets it. One thread writes at a time; any
 * thread may read.
 */
final class NameTable {

	private final @Nullable String[] names;

	private volatile int size = 1;

	private String latest = "";

	private int latestNumber;

	NameTable(int capacity) {
		this.names = new String[capacity];
	}

	/** The number of a name. The most recent name is cached. */
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

	/** The name with a number, {@code null} for none. */
	@Nullable String name(int number) {
		return (number > 0 && number < this.size) ? this.names[number] : null;
	}

}
