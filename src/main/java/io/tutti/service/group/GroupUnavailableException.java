package io.tutti.service.group;

import org.jspecify.annotations.Nullable;

/**
 * The group cannot be used: it is still forming, is broken, or this rank has left it.
 */
public final class GroupUnavailableException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final transient GroupStatus status;

	public GroupUnavailableException(GroupStatus status, @Nullable Throwable cause) {
		super(describe(status), cause);
		this.status = status;
	}

	/** The state of the group when the call failed. */
	public GroupStatus status() {
		return this.status;
	}

	private static String describe(GroupStatus status) {
		return switch (status.state()) {
			case FORMING -> (status.problem() == null) ? "the group has not formed yet"
					: "the group forms again: " + status.problem();
			case READY -> "the group is not available";
			case BROKEN -> "the group is broken: " + status.problem();
			case CLOSED -> "this rank has left the group";
		};
	}

}
