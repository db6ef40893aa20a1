package io.tutti.engine.control;

import io.tutti.Failure;
import io.tutti.engine.control.ControlMessage.LabelledNotice;
import io.tutti.engine.spi.CallSignature;

/**
 * The side of a rank that belongs to a {@link RequestHandler}: sends its requests and
 * takes its notices. Safe for any number of threads.
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

	/** Ends every wait with this failure, later ones too; the first failure counts. */
	void fail(Failure failure);

	/** This rank leaves: ends every wait. */
	void close();

}
