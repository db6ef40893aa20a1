package io.tutti.service.group;

import io.tutti.Failure;
import io.tutti.GroupState;
import org.jspecify.annotations.Nullable;

/**
 * State of this rank's group.
 *
 * @param state the state
 * @param failure what broke the group or its last generation, {@code null} if it is not
 * broken or never formed
 * @param problem description of the failure, {@code null} if there is none
 */
public record GroupStatus(GroupState state, @Nullable Failure failure, @Nullable String problem) {

	static GroupStatus of(GroupState state) {
		return new GroupStatus(state, null, null);
	}

	static GroupStatus broken(Failure failure) {
		return new GroupStatus(GroupState.BROKEN, failure, failure.describe());
	}

	/** The next generation of an elastic group forms because the last one has broken. */
	static GroupStatus forming(Failure failure) {
		return new GroupStatus(GroupState.FORMING, failure, failure.describe());
	}

	static GroupStatus neverFormed(Throwable cause) {
		return new GroupStatus(GroupState.BROKEN, null, "the group did not form: " + cause.getMessage());
	}

}
