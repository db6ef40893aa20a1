package io.tutti.service.group;

import java.util.List;
import java.util.stream.Collectors;

import io.tutti.Failure;
import io.tutti.GroupState;
import org.jspecify.annotations.Nullable;

/**
 * State of this rank's group.
 *
 * @param state the state
 * @param failure what broke the group or its last generation, {@code null} if it is not
 * broken or never formed
 * @param problem what is wrong, {@code null} if nothing is
 */
public record GroupStatus(GroupState state, @Nullable Failure failure, @Nullable String problem) {

	static GroupStatus of(GroupState state) {
		return new GroupStatus(state, null, null);
	}

	/**
	 * The group is intact.
	 * @param left ranks that have left it in order
	 */
	static GroupStatus ready(List<Integer> left) {
		if (left.isEmpty()) {
			return of(GroupState.READY);
		}
		boolean one = left.size() == 1;
		String names = left.stream().map(String::valueOf).collect(Collectors.joining(", "));
		return new GroupStatus(GroupState.READY, null, (one ? "rank " : "ranks ") + names + (one ? " has" : " have")
				+ " left; no collective can run without " + (one ? "it" : "them"));
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
