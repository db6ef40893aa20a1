package io.tutti.engine.backend.nccl;

import io.tutti.Collective;
import io.tutti.ReduceOp;
import io.tutti.engine.backend.nccl.NcclCommunicator.Issue;

/**
 * Maps collectives to NCCL calls. If the installed library has no gather, scatter or
 * all-to-all, these are sends and receives in one group call; a part that is already in
 * its place is not sent.
 *
 * @param availability the functions that the installed library has
 * @param place the rank that makes the calls
 */
record NcclCalls(NcclAvailability availability, RankPlacement place) {

	/**
	 * Checks the arguments and returns the call to issue.
	 * @param reduction ignored by collectives without a reduction
	 * @param root ignored by collectives without one
	 * @throws IllegalArgumentException if an argument is out of range
	 * @throws UnsupportedOperationException if the installed library lacks the type
	 */
	Issue of(Collective collective, DeviceOperands operands, DeviceReduction reduction, int root, long stream) {
		operands.requireFit(collective, this.place, root);
		this.availability.require(operands.type());
		NcclCollective call = new NcclCollective(collective, operands.send(), operands.receive(),
				count(collective, operands), NcclCodes.of(operands.type()), 0, root, stream);
		return switch (collective) {
			case ALL_REDUCE, REDUCE, REDUCE_SCATTER -> reducing(call, operands, reduction);
			case GATHER -> this.availability.has(NcclFunction.GATHER) ? call : messages(call, operands);
			case SCATTER -> this.availability.has(NcclFunction.SCATTER) ? call : messages(call, operands);
			case ALL_TO_ALL -> this.availability.has(NcclFunction.ALL_TO_ALL) ? call : messages(call, operands);
			default -> call;
		};
	}

	/** The count that NCCL gets, which must be the same on all ranks. */
	long count(Collective collective, DeviceOperands operands) {
		return switch (collective) {
			case BROADCAST, REDUCE_SCATTER, SCATTER -> operands.receiveCount();
			case ALL_TO_ALL -> operands.sendCount() / this.place.worldSize();
			default -> operands.sendCount();
		};
	}

	private Issue reducing(NcclCollective call, DeviceOperands operands, DeviceReduction reduction) {
		return switch (reduction) {
			case DeviceReduction.Plain plain -> call.reducedBy(NcclCodes.of(operator(plain.op())));
			case DeviceReduction.PremultipliedSum sum -> {
				this.availability.require(NcclFunction.PREMULTIPLIED_SUM);
				byte[] factor = sum.as(operands.type());
				yield (nccl, communicator) -> premultiplied(nccl, communicator, factor, call);
			}
		};
	}

	/**
	 * The operator to use: the average of one rank is its sum, since NCCL rejects an
	 * average of 8-bit floats in a communicator of one rank.
	 */
	private ReduceOp operator(ReduceOp op) {
		return (op == ReduceOp.AVERAGE && this.place.worldSize() == 1) ? ReduceOp.SUM : op;
	}

	/** The operator exists only for the call. */
	private static int premultiplied(Nccl nccl, long communicator, byte[] factor, NcclCollective call) {
		int[] op = new int[1];
		int created = nccl.redOpCreatePreMulSum(op, factor, call.type(), communicator);
		if (created != NcclResult.SUCCESS.ordinal()) {
			return created;
		}
		int issued = call.reducedBy(op[0]).on(nccl, communicator);
		int destroyed = nccl.redOpDestroy(op[0], communicator);
		return (issued != NcclResult.SUCCESS.ordinal()) ? issued : destroyed;
	}

	/** A gather, scatter or all-to-all as messages. */
	private Issue messages(NcclCollective call, DeviceOperands operands) {
		boolean gathers = call.collective() == Collective.GATHER;
		boolean scatters = call.collective() == Collective.SCATTER;
		boolean exchanges = !gathers && !scatters;
		int rank = this.place.rank();
		long partBytes = call.count() * operands.type().bytes();
		GroupedCalls messages = new GroupedCalls();
		for (int index = 0; index < this.place.worldSize(); index++) {
			int peer = index;
			long from = call.send() + (gathers ? 0 : peer * partBytes);
			long to = call.receive() + (scatters ? 0 : peer * partBytes);
			boolean sends = gathers && peer == call.root() || scatters && rank == call.root() || exchanges;
			boolean receives = gathers && rank == call.root() || scatters && peer == call.root() || exchanges;
			boolean inPlace = peer == rank && from == to;
			if (sends && !inPlace) {
				messages.add((nccl, communicator) -> nccl.send(from, call.count(), call.type(), peer, communicator,
						call.stream()));
			}
			if (receives && !inPlace) {
				messages.add((nccl, communicator) -> nccl.recv(to, call.count(), call.type(), peer, communicator,
						call.stream()));
			}
		}
		return messages;
	}

}
