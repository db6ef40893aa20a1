package io.tutti.engine.control;

import io.tutti.Failure;
import io.tutti.engine.control.ControlMessage.LabelledNotice;
import io.tutti.engine.spi.CallSignature;

/**
 * A rank's counterpart of rank 0's {@link RequestHandler}. Sends its requests and handles
 * its notices. Thread safe.
 */
public interface NoticeHandler {

	/**
	 * Waits for the other ranks in a round of a label.
	 * @see ControlPlane#barrier(RoundWait)
	 */
	BarrierOutcome barrier(RoundWait wait);

	/**
	 * Announces a call and waits for the other ranks to announce theirs.
	 * @see ControlPlane#match(RoundWait, CallSignature)
	 */
	CallMatch match(RoundWait wait, CallSignature call);

	/** Rank 0 has sent a notice. */
	void receive(LabelledNotice notice);

	/** Ends all current and later waits with this failure. The first failure counts. */
	void fail(Failure failure);

	/** This rank leaves: ends every wait. */
	void close();

}
