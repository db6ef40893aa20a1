package io.tutti.engine.spi;

import java.util.Locale;

/**
 * What the ranks of a group agree on by an all-gather of the engine. Part of its
 * fingerprint, so that a rank which calls anything else is detected.
 */
public enum Agreement {

	/** The members of the groups into which a group is split. */
	SPLIT,
	/** The members of a subgroup. */
	SUBGROUP,
	/** The size of a buffer. */
	ALLOCATE,
	/** Which buffer is freed. */
	FREE,
	/** The resources of a new group. */
	FORM;

	/** Stands for the root rank, which an all-gather has not. */
	public int markerRoot() {
		return -1 - ordinal();
	}

	/** The agreement of a negative root rank. */
	static Agreement ofMarkerRoot(int root) {
		return values()[Math.min(-1 - root, values().length - 1)];
	}

	/** The name of the public method, or {@code form}. */
	@Override
	public String toString() {
		return name().toLowerCase(Locale.ROOT);
	}

}
