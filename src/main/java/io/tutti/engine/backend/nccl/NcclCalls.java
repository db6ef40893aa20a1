package io.tutti.engine.backend.nccl;

import io.tutti.Collective;
import io.tutti.engine.backend.nccl.Communicator.Issue;

/**
 * Maps collectives to NCCL calls. If the installed library has no gather, scatter or
 * all-to-all, these are sends and receives in one group call; a part that is already in
 * its place is not sent.
 */
final class NcclCalls {

	private final NcclAvailability availability;

	private final RankPlacement place;

	NcclCalls(NcclAvailability availability, RankPlacement place) {
		this.availability = availability;
		this.place = place;
	}

	/**
	 * Checks the arguments and returns the call to issue.
	 * @param reduction ignored by collectives without a reduction
	 * @param root ignored by collectives without one
	 * @throws IllegalArgumentException if an argument is out of range
	 */
	Issue of(Collective collective, DeviceOperands operands, DeviceReduction reduction, int root, long stream) {
		this.place.requireRank("root", root);
		operands.requireDevice(this.place.device());
		DeviceOperands o = operands;
		int type = NcclCodes.of(o.type());
		boolean isRoot = this.place.rank() == root;
		int worldSize = this.place.worldSize();
		int rank = this.place.rank();
		return switch (collective) {
			case ALL_REDUCE -> {
				o.requireEqual();
				o.requireApartOrInPlace(0, 0);
				yield reducing(o, reduction, (nccl, communicator, op) -> nccl.allReduce(o.send(), o.receive(),
						o.sendCount(), type, op, communicator, stream));
			}
			case REDUCE -> {
				if (isRoot) {
					o.requireEqual();
					o.requireApartOrInPlace(0, 0);
				}
				yield reducing(o, reduction, (nccl, communicator, op) -> nccl.reduce(o.send(), o.receive(),
						o.sendCount(), type, op, root, communicator, stream));
			}
			case REDUCE_SCATTER -> {
				o.requireSent(worldSize);
				o.requireApartOrInPlace(0, rank);
				yield reducing(o, reduction, (nccl, communicator, op) -> nccl.reduceScatter(o.send(), o.receive(),
						o.receiveCount(), type, op, communicator, stream));
			}
			case BROADCAST -> {
				if (isRoot) {
					o.requireEqual();
					o.requireApartOrInPlace(0, 0);
				}
				yield (nccl, communicator) -> nccl.broadcast(o.send(), o.receive(), o.receiveCount(), type, root,
						communicator, stream);
			}
			case ALL_GATHER -> {
				o.requireReceived(worldSize);
				o.requireApartOrInPlace(rank, 0);
				yield (nccl, communicator) -> nccl.allGather(o.send(), o.receive(), o.sendCount(), type, communicator,
						stream);
			}
			case GATHER -> {
				if (isRoot) {
					o.requireReceived(worldSize);
					o.requireApartOrInPlace(rank, 0);
				}
				yield this.availability.has(NcclFunction.GATHER) ? (nccl, communicator) -> nccl.gather(o.send(),
						o.receive(), o.sendCount(), type, root, communicator, stream) : gather(o, root, stream);
			}
			case SCATTER -> {
				if (isRoot) {
					o.requireSent(worldSize);
					o.requireApartOrInPlace(0, rank);
				}
				yield this.availability.has(NcclFunction.SCATTER) ? (nccl, communicator) -> nccl.scatter(o.send(),
						o.receive(), o.receiveCount(), type, root, communicator, stream) : scatter(o, root, stream);
			}
			case ALL_TO_ALL -> {
				o.requireEqual();
				o.requireSentInParts(worldSize);
				o.requireApart("must be apart, since NCCL has no all-to-all in place");
				yield this.availability.has(NcclFunction.ALL_TO_ALL) ? (nccl, communicator) -> nccl.alltoAll(o.send(),
						o.receive(), o.sendCount() / worldSize, type, communicator, stream) : allToAll(o, stream);
			}
			case BARRIER -> throw new IllegalArgumentException("a barrier has no operands");
			case SCAN, EXCLUSIVE_SCAN ->
				throw new UnsupportedOperationException("NCCL has no " + collective + "; use buffers in host memory");
		};
	}

	/** A call with an operator's code, which may have to be created first. */
	private interface Reducing {

		int on(Nccl nccl, long communicator, int op);

	}

	private Issue reducing(DeviceOperands operands, DeviceReduction reduction, Reducing call) {
		return switch (reduction) {
			case DeviceReduction.Plain plain -> {
				int op = NcclCodes.of(plain.op());
				yield (nccl, communicator) -> call.on(nccl, communicator, op);
			}
			case DeviceReduction.PremultipliedSum sum -> {
				this.availability.require(NcclFunction.PREMULTIPLIED_SUM);
				byte[] factor = ScalarBytes.of(sum.factor(), operands.type());
				int type = NcclCodes.of(operands.type());
				yield (nccl, communicator) -> premultiplied(nccl, communicator, factor, type, call);
			}
		};
	}

	private static int premultiplied(Nccl nccl, long communicator, byte[] factor, int type, Reducing call) {
		int[] op = new int[1];
		int created = nccl.redOpCreatePreMulSum(op, factor, type, communicator);
		if (created != NcclResult.SUCCESS.ordinal()) {
			return created;
		}
		int answer = call.on(nccl, communicator, op[0]);
		int destroyed = nccl.redOpDestroy(op[0], communicator);
		return (answer != NcclResult.SUCCESS.ordinal()) ? answer : destroyed;
	}

	private Issue gather(DeviceOperands o, int root, long stream) {
		long partBytes = o.sendCount() * o.type().bytes();
		int type = NcclCodes.of(o.type());
		MessageGroup messages = new MessageGroup();
		int rank = this.place.rank();
		if (rank != root || o.send() != o.receive() + rank * partBytes) {
			messages.add((nccl, communicator) -> nccl.send(o.send(), o.sendCount(), type, root, communicator, stream));
		}
		for (int peer = 0; rank == root && peer < this.place.worldSize(); peer++) {
			long to = o.receive() + peer * partBytes;
			int from = peer;
			if (peer != rank || to != o.send()) {
				messages.add((nccl, communicator) -> nccl.recv(to, o.sendCount(), type, from, communicator, stream));
			}
		}
		return messages;
	}

	private Issue scatter(DeviceOperands o, int root, long stream) {
		long partBytes = o.receiveCount() * o.type().bytes();
		int type = NcclCodes.of(o.type());
		MessageGroup messages = new MessageGroup();
		int rank = this.place.rank();
		if (rank != root || o.receive() != o.send() + rank * partBytes) {
			messages.add(
					(nccl, communicator) -> nccl.recv(o.receive(), o.receiveCount(), type, root, communicator, stream));
		}
		for (int peer = 0; rank == root && peer < this.place.worldSize(); peer++) {
			long from = o.send() + peer * partBytes;
			int to = peer;
			if (peer != rank || from != o.receive()) {
				messages.add((nccl, communicator) -> nccl.send(from, o.receiveCount(), type, to, communicator, stream));
			}
		}
		return messages;
	}

	private Issue allToAll(DeviceOperands o, long stream) {
		long part = o.sendCount() / this.place.worldSize();
		long partBytes = part * o.type().bytes();
		int type = NcclCodes.of(o.type());
		MessageGroup messages = new MessageGroup();
		for (int peer = 0; peer < this.place.worldSize(); peer++) {
			long from = o.send() + peer * partBytes;
			long to = o.receive() + peer * partBytes;
			int other = peer;
			messages.add((nccl, communicator) -> nccl.send(from, part, type, other, communicator, stream));
			messages.add((nccl, communicator) -> nccl.recv(to, part, type, other, communicator, stream));
		}
		return messages;
	}

}
