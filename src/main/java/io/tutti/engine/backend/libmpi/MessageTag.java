package io.tutti.engine.backend.libmpi;

import java.util.List;

import io.tutti.DataType;

/**
 * A message's tag with its element type, which an MPI library does not transfer. The type
 * takes the lower bits of the library's tag, so a receive matches messages of its own
 * type only, and a probe can tell the number of elements.
 *
 * @param type element type of the message
 * @param tag the tag as the caller sees it
 */
record MessageTag(DataType type, int tag) {

	private static final List<DataType> TYPES = List.of(DataType.values());

	/**
	 * The library's tag.
	 * @param tag at most {@link #largest}
	 */
	static int encode(DataType type, int tag) {
		return tag * TYPES.size() + type.ordinal();
	}

	static MessageTag decode(int libraryTag) {
		return new MessageTag(TYPES.get(libraryTag % TYPES.size()), libraryTag / TYPES.size());
	}

	/** The largest tag for callers where this is the library's largest. */
	static int largest(int libraryTag) {
		return (libraryTag - TYPES.size() + 1) / TYPES.size();
	}

}
