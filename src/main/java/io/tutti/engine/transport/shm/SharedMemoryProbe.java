package io.tutti.engine.transport.shm;

import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.security.SecureRandom;
import java.util.List;

import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.shm.HostLayout.Line;
import org.jspecify.annotations.Nullable;

/**
 * One candidate's side of an attempt to share memory on a host. Errors are sent to the
 * other candidates instead of thrown, so that all stay in the same step.
 */
final class SharedMemoryProbe implements AutoCloseable {

	private static final SecureRandom RANDOM = new SecureRandom();

	private final List<Integer> members;

	private final int self;

	private final HostLayout layout;

	private final SegmentDirectory directory;

	/** The number that the owner wrote for each peer. */
	private final long[] numbers;

	private @Nullable SharedSegment segment;

	private boolean named;

	SharedMemoryProbe(List<Integer> members, int self, SegmentDirectory directory) {
		this.members = members;
		this.self = self;
		this.layout = new HostLayout(members.size());
		this.directory = directory;
		this.numbers = new long[members.size()];
	}

	private boolean owner() {
		return this.self == 0 && this.members.size() > 1;
	}

	/**
	 * The owner creates the memory, writes a number for each peer, and sends the segment
	 * name.
	 */
	HandshakeMessage make() {
		if (!owner()) {
			return HandshakeMessage.NOTHING;
		}
		try {
			this.directory.sweep();
			String name = this.directory.newName();
			SharedSegment made = SharedSegment.create(this.directory.file(name), this.layout.bytes());
			this.segment = made;
			this.named = true;
			for (int rank = 1; rank < this.numbers.length; rank++) {
				this.numbers[rank] = RANDOM.nextLong();
				NativeMemory.putLong(probe(made, rank), this.numbers[rank]);
			}
			VarHandle.fullFence();
			return new HandshakeMessage(true, 0, 0, name);
		}
		catch (IOException ex) {
			return HandshakeMessage.refusal(String.valueOf(ex.getMessage()));
		}
	}

	/**
	 * A peer sends the number that it reads and another number that it writes into the
	 * memory.
	 */
	HandshakeMessage answer(List<HandshakeMessage> made) {
		HandshakeMessage owners = made.get(this.members.get(0));
		if (this.self == 0 || !owners.usable()) {
			return HandshakeMessage.NOTHING;
		}
		try {
			SharedSegment opened = SharedSegment.open(this.directory.file(owners.text()), this.layout.bytes());
			this.segment = opened;
			long answer = RANDOM.nextLong();
			NativeMemory.putLong(probe(opened, this.self) + Long.BYTES, answer);
			VarHandle.fullFence();
			return new HandshakeMessage(true, NativeMemory.getLong(probe(opened, this.self)), answer, "");
		}
		catch (IOException ex) {
			return HandshakeMessage.refusal("cannot open the memory that rank " + this.members.get(0) + " created ("
					+ ex.getClass().getSimpleName() + ": " + ex.getMessage() + ")");
		}
	}

	/**
	 * The owner unlinks the file, since every peer has tried to map it, and checks the
	 * answers.
	 */
	HandshakeMessage confirm(List<HandshakeMessage> answers) {
		SharedSegment made = this.segment;
		if (!owner() || made == null) {
			return HandshakeMessage.NOTHING;
		}
		try {
			unlink(made);
		}
		catch (IOException ex) {
			return HandshakeMessage.refusal("the memory's name cannot be removed (" + ex.getMessage() + ")");
		}
		for (int rank = 1; rank < this.numbers.length; rank++) {
			HandshakeMessage answer = answers.get(this.members.get(rank));
			if (answer.first() != this.numbers[rank]
					|| answer.second() != NativeMemory.getLong(probe(made, rank) + Long.BYTES)) {
				return HandshakeMessage
					.refusal("rank " + this.members.get(rank) + " maps other memory under the same name");
			}
		}
		return HandshakeMessage.NOTHING;
	}

	private long probe(SharedSegment memory, int rank) {
		return memory.address() + this.layout.line(rank, Line.PROBE);
	}

	private void unlink(SharedSegment made) throws IOException {
		if (this.named) {
			made.unlink();
			this.named = false;
		}
	}

	/** Transfers the verified memory to the caller. */
	HostMemory memory() {
		SharedSegment verified = this.segment;
		if (verified == null) {
			throw new IllegalStateException("the memory is not verified");
		}
		this.segment = null;
		return new HostMemory(this.members, this.self, verified);
	}

	/** Releases the memory unless it was transferred. */
	@Override
	public void close() throws IOException {
		SharedSegment unused = this.segment;
		if (unused != null) {
			unlink(unused);
			unused.close();
		}
	}

}
