package io.tutti.engine.transport.shm;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.invoke.VarHandle;
import java.security.SecureRandom;
import java.util.List;

import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.shm.HostLayout.Line;
import org.jspecify.annotations.Nullable;

/**
 * One candidate's side of an attempt to share memory on a host. Errors are sent to the
 * other candidates instead of thrown, so that all stay in the same step.
 */
final class SharedMemoryProbe implements AutoCloseable {

	private static final SecureRandom RANDOM = new SecureRandom();

	/** The namespaces in which the ranks of one container are together. */
	private static final List<String> NAMESPACES = List.of("pid", "mnt");

	private final List<Integer> members;

	private final int self;

	private final SegmentDirectory directory;

	/** The number that the owner wrote for each peer. */
	private final long[] numbers;

	private final boolean attach;

	private final Arena arena = Arena.ofConfined();

	private @Nullable SharedSegment segment;

	/** Whether another process was permitted to read this one. */
	private boolean permitted;

	/** Whether the ranks can read each other's memory. */
	private boolean attachable;

	/**
	 * @param attach whether this rank may read the memory of the others, and they its own
	 */
	SharedMemoryProbe(List<Integer> members, int self, SegmentDirectory directory, boolean attach) {
		this.members = members;
		this.self = self;
		this.directory = directory;
		this.attach = attach;
		this.numbers = new long[members.size()];
	}

	private boolean owner() {
		return this.self == 0 && this.members.size() > 1;
	}

	/**
	 * The owner creates the memory, writes a number for each peer, and sends the segment
	 * name.
	 */
	HandshakeMessage make(Deadline deadline) {
		if (!owner()) {
			return HandshakeMessage.NOTHING;
		}
		try {
			this.directory.sweep();
			String name = this.directory.newName();
			SharedSegment made = SharedSegment.create(this.directory.file(name), HostLayout.bytes(this.members.size()),
					deadline);
			this.segment = made;
			for (int rank = 1; rank < this.numbers.length; rank++) {
				this.numbers[rank] = RANDOM.nextLong();
				NativeMemory.putLong(line(made, rank, Line.PROBE), this.numbers[rank]);
			}
			introduce(made);
			return new HandshakeMessage(true, 0, 0, name);
		}
		catch (IOException | OutOfMemoryError ex) {
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
			SharedSegment opened = SharedSegment.open(this.directory.file(owners.text()),
					HostLayout.bytes(this.members.size()));
			this.segment = opened;
			long answer = RANDOM.nextLong();
			NativeMemory.putLong(line(opened, this.self, Line.PROBE) + Long.BYTES, answer);
			introduce(opened);
			return new HandshakeMessage(true, NativeMemory.getLong(line(opened, this.self, Line.PROBE)), answer, "");
		}
		catch (IOException | OutOfMemoryError ex) {
			return HandshakeMessage.refusal("cannot open the memory that rank " + this.members.get(0) + " created ("
					+ ex.getClass().getSimpleName() + ": " + ex.getMessage() + ")");
		}
	}

	/**
	 * Names this process, whose memory other ranks try to read, and its namespaces.
	 */
	private void introduce(SharedSegment memory) {
		ReadableProcess.current().write(line(memory, this.self, Line.PROCESS));
		for (int i = 0; i < NAMESPACES.size(); i++) {
			NativeMemory.putLong(namespace(memory, this.self, i), ProcessIdentity.namespace(NAMESPACES.get(i)));
		}
		VarHandle.fullFence();
	}

	/**
	 * Whether a rank is in the container of this one. In another process namespace its
	 * number could be that of any process.
	 */
	private boolean inSameContainer(SharedSegment memory, int rank) {
		for (int i = 0; i < NAMESPACES.size(); i++) {
			long own = NativeMemory.getLong(namespace(memory, this.self, i));
			if (own == 0 || own != NativeMemory.getLong(namespace(memory, rank, i))) {
				return false;
			}
		}
		return true;
	}

	/**
	 * Permits the other rank, if there is only one, to read this process. Called once all
	 * ranks have introduced themselves, and before {@link #attached}.
	 */
	private void permitOther() {
		SharedSegment memory = this.segment;
		int other = 1 - this.self;
		if (this.attach && memory != null && this.members.size() == 2 && inSameContainer(memory, other)) {
			CrossMemoryAttach.permit(ReadableProcess.read(line(memory, other, Line.PROCESS)).pid());
			this.permitted = true;
		}
	}

	/**
	 * Reads the numbers of the other ranks' processes. A rank that cannot sends 0.
	 */
	HandshakeMessage attached() {
		SharedSegment memory = this.segment;
		CrossMemoryAttach reader = CrossMemoryAttach.find(this.arena);
		if (!this.attach || memory == null || reader == null) {
			return HandshakeMessage.NOTHING;
		}
		for (int rank = 0; rank < this.numbers.length; rank++) {
			if (!inSameContainer(memory, rank)) {
				return HandshakeMessage.NOTHING;
			}
			try {
				reader.copy(ReadableProcess.read(line(memory, rank, Line.PROCESS)), 0, 0, 0);
			}
			catch (IOException ex) {
				return HandshakeMessage.NOTHING;
			}
		}
		return new HandshakeMessage(true, 1, 0, "");
	}

	private long line(SharedSegment memory, int rank, Line line) {
		return new HostLayout(this.members.size(), memory.address()).line(rank, line);
	}

	/** Where a rank names its namespace of a kind: behind its process. */
	private long namespace(SharedSegment memory, int rank, int kind) {
		return line(memory, rank, Line.PROCESS) + ReadableProcess.BYTES + (long) kind * Long.BYTES;
	}

	/**
	 * The owner unlinks the file, since every peer has tried to map it, and checks the
	 * answers.
	 */
	HandshakeMessage confirm(List<HandshakeMessage> answers) {
		SharedSegment made = this.segment;
		permitOther();
		if (!owner() || made == null) {
			return HandshakeMessage.NOTHING;
		}
		try {
			made.unlink();
		}
		catch (IOException ex) {
			return HandshakeMessage.refusal("the memory's name cannot be removed (" + ex.getMessage() + ")");
		}
		for (int rank = 1; rank < this.numbers.length; rank++) {
			HandshakeMessage answer = answers.get(this.members.get(rank));
			if (answer.first() != this.numbers[rank]
					|| answer.second() != NativeMemory.getLong(line(made, rank, Line.PROBE) + Long.BYTES)) {
				return HandshakeMessage
					.refusal("rank " + this.members.get(rank) + " maps other memory under the same name");
			}
		}
		return HandshakeMessage.NOTHING;
	}

	/**
	 * Transfers the verified memory to the caller.
	 * @param attached the last messages of all ranks of the group
	 */
	HostMemory memory(List<HandshakeMessage> attached) {
		SharedSegment verified = this.segment;
		if (verified == null) {
			throw new IllegalStateException("the memory is not verified");
		}
		this.segment = null;
		this.attachable = this.members.stream().allMatch((member) -> attached.get(member).first() == 1);
		return new HostMemory(this.members, this.self, verified, this.attachable);
	}

	/**
	 * Releases the memory unless it was transferred, and withdraws a permission that
	 * nothing uses.
	 */
	@Override
	public void close() throws IOException {
		if (this.permitted && !this.attachable) {
			CrossMemoryAttach.permit(0);
		}
		this.arena.close();
		SharedSegment unused = this.segment;
		if (unused != null) {
			try (unused) {
				unused.unlink();
			}
		}
	}

}
