package io.tutti.engine.backend.mpi;

import java.util.concurrent.locks.LockSupport;

import io.tutti.DataType;
import io.tutti.ReduceOp;
import io.tutti.launch.standalone.MpiEnvironment;

/**
 * A program whose rank 0 leaves while its all-reduce is in progress.
 */
final class UnfinishedCall {

	private UnfinishedCall() {
	}

	/** The other ranks do not end by themselves. */
	public static void main(String[] args) {
		try (Mpi mpi = MpiEnvironment.init()) {
			mpi.world().barrier();
			while (mpi.world().rank() != 0) {
				LockSupport.park();
			}
			mpi.world().iAllReduce(new int[1], 1, DataType.INT32, ReduceOp.SUM);
		}
	}

}
