package io.tutti.engine.dispatch;

import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.PointToPoint;
import org.jspecify.annotations.Nullable;

/**
 * Creates a group's point-to-point messages and its subgroups.
 */
public interface GroupFactory {

	/** For a group without messages and subgroups. */
	GroupFactory NONE = new GroupFactory() {
	};

	/**
	 * Opens a group's messages. Called once, when the group forms; messages arrive in the
	 * background from then on.
	 * @return {@code null} for a group without messages
	 */
	default @Nullable PointToPoint pointToPoint(GroupIdentity identity, FailureLatch latch) {
		return null;
	}

	/** Forms a further group. Its other ranks form it under the same name. */
	default DefaultProcessGroup group(GroupIdentity identity) {
		throw new UnsupportedOperationException("groups such as " + identity.name() + " cannot be made here");
	}

}
