package io.tutti.engine.spi;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Objects;

import io.tutti.Failure;

/**
 * A group or one of its resources could not be set up on this rank, as when the system
 * refuses memory or connections.
 */
public final class GroupSetupException extends UncheckedIOException implements Failure.Origin {

	private static final long serialVersionUID = 1L;

	private final String group;

	private final int rank;

	private final int worldSize;

	/**
	 * @param problem what could not be set up, as a sentence with no full stop
	 */
	public GroupSetupException(GroupIdentity identity, String problem, IOException cause) {
		super("rank " + identity.worldRank() + ": group " + identity.name() + ": " + problem + ": "
				+ Objects.requireNonNullElse(cause.getMessage(), cause.getClass().getSimpleName()), cause);
		this.group = identity.name();
		this.rank = identity.worldRank();
		this.worldSize = identity.jobSize();
	}

	@Override
	public int rank() {
		return this.rank;
	}

	@Override
	public int worldSize() {
		return this.worldSize;
	}

	@Override
	public String group() {
		return this.group;
	}

}
