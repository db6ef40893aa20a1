package io.tutti.engine;

/**
 * What a group asks its backend for beside collectives: messages, and further groups of
 * its ranks.
 */
public interface GroupFactory {

	/** For a group that has neither. */
	GroupFactory NONE = new GroupFactory() {
		@Override
		public PointToPoint pointToPoint(GroupIdentity identity, FailureLatch latch, FailureAgreement agreement) {
			throw new UnsupportedOperationException("group " + identity.name() + " has no point-to-point messages");
		}

		@Override
		public ProcessGroup group(GroupIdentity identity) {
			throw new UnsupportedOperationException("groups such as " + identity.name() + " cannot be made here");
		}

		@Override
		public void closed(ProcessGroup group) {
		}
	};

	/** A group's messages; asked for once, on first use. */
	PointToPoint pointToPoint(GroupIdentity identity, FailureLatch latch, FailureAgreement agreement);

	/** A further group; its other ranks make theirs under the same name. */
	ProcessGroup group(GroupIdentity identity);

	/** This rank has left a group. */
	void closed(ProcessGroup group);

}
