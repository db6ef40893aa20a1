package io.tutti.engine.dispatch;

import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.PointToPoint;
import org.jspecify.annotations.Nullable;

/**
 * What a group asks its backend for beside collectives: messages, and further groups of
 * its ranks.
 */
public interface GroupFactory {

	/** For a group that has neither. */
	GroupFactory NONE = new GroupFactory() {
		@Override
		public @Nullable PointToPoint pointToPoint(GroupIdentity identity, FailureLatch latch) {
			return null;
		}

		@Override
		public DefaultProcessGroup group(GroupIdentity identity) {
			throw new UnsupportedOperationException("groups such as " + identity.name() + " cannot be made here");
		}

		@Override
		public void closed(DefaultProcessGroup group) {
		}
	};

	/**
	 * A group's messages. Called once, when the group forms: messages arrive from then
	 * on, whatever this rank does.
	 * @return {@code null} for a group without messages
	 */
	@Nullable PointToPoint pointToPoint(GroupIdentity identity, FailureLatch latch);

	/** A further group; its other ranks make theirs under the same name. */
	DefaultProcessGroup group(GroupIdentity identity);

	/** This rank has left a group. */
	void closed(DefaultProcessGroup group);

}
