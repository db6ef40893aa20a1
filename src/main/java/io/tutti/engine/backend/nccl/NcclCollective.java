package io.tutti.engine.backend.nccl;

import io.tutti.Collective;

/**
 * One collective as NCCL takes it.
 *
 * @param collective any but a barrier
 * @param send address to read, 0 if this rank reads nothing
 * @param receive address to write, 0 if this rank writes nothing
 * @param count elements of one part
 * @param type NCCL's code of the elements' type
 * @param op NCCL's code of the operator; ignored without a reduction
 * @param root ignored by collectives without one
 * @param stream the stream on which it runs
 */
record NcclCollective(Collective collective, long send, long receive, long count, int type, int op, int root,
		long stream) implements NcclCommunicator.Issue {

	@Override
	public int on(Nccl nccl, long communicator) {
		return nccl.enqueue(this, communicator);
	}

	/** The same call with another operator. */
	NcclCollective reducedBy(int code) {
		return new NcclCollective(this.collective, this.send, this.receive, this.count, this.type, code, this.root,
				this.stream);
	}

}
