package io.tutti.engine.transport.shm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

import io.tutti.CollectiveListener;
import io.tutti.engine.control.RecordCodec;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.MetadataExchange;
import org.jspecify.annotations.Nullable;

/**
 * Determines which ranks of a group share memory. Ranks with the same machine and memory
 * device are candidates. The lowest candidate creates the memory and writes a number into
 * it for each peer. Each peer writes its answer into the memory and sends both numbers
 * over the {@link MetadataExchange}. The owner unlinks the file and checks the answers.
 * The memory is used only if every candidate agrees; a candidate that cannot use it sends
 * the reason, and all continue without shared memory.
 */
public final class HostHandshake {

	private final GroupIdentity identity;

	private final MetadataExchange exchange;

	private final SharedMemorySettings settings;

	private final CollectiveListener events;

	private final Deadline deadline;

	private HostHandshake(GroupIdentity identity, MetadataExchange exchange, SharedMemorySettings settings,
			CollectiveListener events, Deadline deadline) {
		this.identity = identity;
		this.exchange = exchange;
		this.settings = settings;
		this.events = events;
		this.deadline = deadline;
	}

	/**
	 * Establishes the memory that this rank shares with other ranks of its host. Every
	 * rank of the group calls it, on every host.
	 * @return {@code null} if there is no other rank or no memory to share; the listener
	 * gets a note with the reason
	 * @throws IOException if the exchange failed
	 */
	public static @Nullable HostMemory establish(GroupIdentity identity, MetadataExchange exchange,
			SharedMemorySettings settings, CollectiveListener events, Deadline deadline) throws IOException {
		return new HostHandshake(identity, exchange, settings, events, deadline).run();
	}

	private @Nullable HostMemory run() throws IOException {
		List<Integer> members = findCandidates();
		try (SharedMemoryProbe probe = new SharedMemoryProbe(members, members.indexOf(this.identity.rank()),
				new SegmentDirectory(this.settings), this.settings.attach())) {
			List<HandshakeMessage> made = gather(probe.make(this.deadline));
			List<HandshakeMessage> answers = gather(probe.answer(made));
			List<HandshakeMessage> confirmed = gather(probe.confirm(answers));
			List<HandshakeMessage> attached = gather(probe.attached());
			if (members.size() == 1) {
				return null;
			}
			String refusal = HandshakeMessage.refusal(members, made, answers, confirmed);
			if (refusal == null) {
				return probe.memory(attached);
			}
			this.events.note("ranks " + names(members)
					+ " of one host use TCP between them, not shared memory, because " + refusal);
			return null;
		}
	}

	private List<Integer> findCandidates() throws IOException {
		List<HandshakeMessage> hosts = gather(introduction());
		int self = this.identity.rank();
		HandshakeMessage mine = hosts.get(self);
		List<Integer> members = new ArrayList<>();
		List<Integer> apart = new ArrayList<>();
		for (int rank = 0; rank < hosts.size(); rank++) {
			HandshakeMessage other = hosts.get(rank);
			if (rank == self || mine.usable() && other.usable() && mine.equals(other)) {
				members.add(rank);
			}
			else if (mine.text().equals(other.text())) {
				apart.add(rank);
			}
		}
		if (mine.usable() && !apart.isEmpty()) {
			this.events.note("ranks " + names(apart) + " run on this machine, but see another "
					+ this.settings.directory() + " or none: TCP is used to them");
		}
		return members;
	}

	/**
	 * The id of the machine's boot and the number of the device that holds the memory
	 * directory. Ranks where both are equal may share memory.
	 */
	private HandshakeMessage introduction() {
		try {
			String boot = Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).trim();
			Number device = (Number) Files.getAttribute(this.settings.directory(), "unix:dev");
			return new HandshakeMessage(true, device.longValue(), 0, boot);
		}
		catch (IOException | UnsupportedOperationException ex) {
			this.events.note("no shared memory on this host: " + ex.getMessage());
			return HandshakeMessage.refusal("");
		}
	}

	private List<HandshakeMessage> gather(HandshakeMessage own) throws IOException {
		return RecordCodec.allGather(HandshakeMessage.class, own, this.exchange, this.deadline);
	}

	private static String names(List<Integer> ranks) {
		return ranks.stream().map(String::valueOf).collect(Collectors.joining(", "));
	}

}
