package io.tutti.engine.rendezvous.meeting;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

import com.sun.management.UnixOperatingSystemMXBean;
import io.tutti.engine.rendezvous.Membership;
import io.tutti.engine.rendezvous.PeerAddress;
import io.tutti.engine.rendezvous.wire.ControlMessage.Roster;
import io.tutti.engine.rendezvous.wire.MessageCodec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many ranks and many strangers at one meeting point; as many as this process may hold
 * sockets for, both ends of each.
 */
@Timeout(120)
class CrowdTest {

	private static final int SPARE_DESCRIPTORS = 2000;

	/** Something that rank 0 kept for each pair of ranks would be larger. */
	private static final long BYTES_PER_RANK = 24 << 10;

	/** What a roster begins with on the wire. */
	private static final byte ROSTER = MessageCodec.encode(new Roster(0, new byte[32], "", List.of())).get(4);

	@Test
	void aThousandRanksMeetAndRankZeroKeepsLittleOfEach() throws Exception {
		int worldSize = Math.min(1000, descriptors() / 2);
		TestWorld world = new TestWorld(worldSize);
		long before = heapBytes();
		CompletableFuture<Membership> zero = world.meeting(0, TestWorld.SETTINGS);
		Queue<RawRank> guests = new ConcurrentLinkedQueue<>();
		List<byte[]> rosters = meet(worldSize, world.port, guests);
		world.members.put(0, TestWorld.join(zero));
		try (world) {
			assertThat(rosters).hasSize(worldSize - 1)
				.allSatisfy((roster) -> assertThat(roster).isEqualTo(rosters.getFirst()));
			Roster roster = (Roster) MessageCodec.decode(ByteBuffer.wrap(rosters.getFirst()));
			assertThat(roster.peers()).extracting(PeerAddress::rank)
				.containsExactlyElementsOf(IntStream.range(0, worldSize).boxed().toList());
			assertThat(world.members.get(0).roster()).hasSize(worldSize);
			rosters.clear();
			assertThat(heapBytes() - before).isLessThan(BYTES_PER_RANK * worldSize);
		}
		finally {
			guests.forEach(RawRank::close);
		}
	}

	@Test
	void ranksMeetWhileTenThousandStrangersCall() throws IOException {
		int strangers = Math.min(10_000, descriptors());
		TestWorld world = new TestWorld(3);
		CompletableFuture<Membership> zero = world.meeting(0, TestWorld.SETTINGS);
		new RawRank(world.port).close();
		Queue<SocketChannel> calls = new ConcurrentLinkedQueue<>();
		try (world) {
			call(world.port, strangers / 2, calls);
			CompletableFuture<Membership> one = world.meeting(1, TestWorld.SETTINGS);
			call(world.port, strangers / 4, calls);
			CompletableFuture<Membership> two = world.meeting(2, TestWorld.SETTINGS);
			call(world.port, strangers / 4, calls);
			world.members.put(1, TestWorld.join(one));
			world.members.put(2, TestWorld.join(two));
			world.members.put(0, TestWorld.join(zero));
			assertThat(calls).hasSizeGreaterThanOrEqualTo(strangers - 4);
		}
		finally {
			for (SocketChannel call : calls) {
				call.close();
			}
		}
	}

	/** Ranks that keep nothing; returns what each got for a roster. */
	private static List<byte[]> meet(int worldSize, int port, Queue<RawRank> guests) throws Exception {
		try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
			List<Future<byte[]>> meetings = IntStream.range(1, worldSize).mapToObj((rank) -> threads.submit(() -> {
				RawRank guest = new RawRank(port);
				guests.add(guest);
				return roster(guest.seat(rank, worldSize));
			})).toList();
			List<byte[]> rosters = new ArrayList<>();
			for (Future<byte[]> meeting : meetings) {
				rosters.add(meeting.get());
			}
			return rosters;
		}
	}

	private static byte[] roster(RawRank guest) {
		byte[] frame = guest.nextFrame();
		while (frame[0] != ROSTER) {
			frame = guest.nextFrame();
		}
		return frame;
	}

	private static void call(int port, int count, Queue<SocketChannel> calls) throws IOException {
		for (int i = 0; i < count; i++) {
			calls.add(SocketChannel.open(new InetSocketAddress("127.0.0.1", port)));
		}
	}

	private static int descriptors() {
		long limit = (ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system)
				? system.getMaxFileDescriptorCount() : 4096;
		return (int) Math.min(Integer.MAX_VALUE, limit) - SPARE_DESCRIPTORS;
	}

	private static long heapBytes() {
		System.gc();
		return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
	}

}
