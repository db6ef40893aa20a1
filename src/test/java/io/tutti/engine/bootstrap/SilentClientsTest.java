package io.tutti.engine.bootstrap;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import com.sun.management.UnixOperatingSystemMXBean;
import io.tutti.engine.control.Membership;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Rendezvous with ten thousand silent clients. */
@Order(5)
@Timeout(120)
class SilentClientsTest {

	private static final int SILENT_CLIENTS = 10_000;

	/** More than rank 0 accepts at a time. */
	private static final int ENOUGH_CLIENTS = 1000;

	/** Reserved for the ranks, rank 0's ends of the silent clients, and other tests. */
	private static final int OTHER_DESCRIPTORS = 2000;

	@Test
	void tenThousandSilentClientsDoNotPreventRendezvous() throws IOException {
		TestWorld world = new TestWorld(3);
		CompletableFuture<Membership> zero = world.joining(0, TestWorld.SETTINGS);
		List<SocketChannel> clients = new ArrayList<>();
		try (world; RawRank first = new RawRank(world.port)) {
			CompletableFuture<Membership> one = null;
			int most = most();
			assumeTrue(most >= ENOUGH_CLIENTS, () -> "needs more file descriptors, which leave " + most + " clients");
			for (int i = 0; i < most; i++) {
				clients.add(SocketChannel.open(new InetSocketAddress("127.0.0.1", world.port)));
				if (i == most / 2) {
					one = world.joining(1, TestWorld.SETTINGS);
				}
			}
			assertThat(first.isHungUpOn()).isTrue();
			world.members.put(2, TestWorld.join(world.joining(2, TestWorld.SETTINGS)));
			world.members.put(1, TestWorld.join(one));
			world.members.put(0, TestWorld.join(zero));
		}
		finally {
			for (SocketChannel client : clients) {
				client.close();
			}
		}
	}

	private static int most() {
		UnixOperatingSystemMXBean system = (UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
		long free = system.getMaxFileDescriptorCount() - system.getOpenFileDescriptorCount() - OTHER_DESCRIPTORS;
		return (int) Math.max(1, Math.min(SILENT_CLIENTS, free));
	}

}
