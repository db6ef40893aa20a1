package io.tutti.endtoend;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.TimeUnit;

/**
 * An Ethernet switch in this process, with links that can have delay, lose frames or be
 * cut. The kernel of a test machine may not support this.
 */
final class TestSwitch {

	private static final int LOOK_MILLIS = 100;

	private static final int SENDER_AT = 6;

	private final List<Port> ports = new ArrayList<>();

	/** The port by the MAC address last seen on it. */
	private final Map<Long, Port> learned = new ConcurrentHashMap<>();

	private final Set<Set<Integer>> separated = ConcurrentHashMap.newKeySet();

	private volatile long delayNanos;

	private volatile double loss;

	private volatile boolean closed;

	/** Connects a device and returns its port number. */
	int plugIn(TapDevice card) {
		Port port = new Port(card, this.ports.size());
		this.ports.add(port);
		return port.number;
	}

	/** Starts the switch. Call it when every device is connected. */
	void start() {
		this.ports.forEach(Port::start);
	}

	/** Sets the delay of each frame and the fraction of frames that is lost. */
	void disturb(Duration delay, double lossProbability) {
		this.delayNanos = delay.toNanos();
		this.loss = lossProbability;
	}

	/** Cuts the link of a port. */
	void cut(int port) {
		this.ports.get(port).cut = true;
	}

	/**
	 * Divides the network: a port reaches only the ports of the same side.
	 * @param sides the side of each port
	 */
	void divide(List<Integer> sides) {
		for (Port port : this.ports) {
			port.side = sides.get(port.number);
		}
	}

	/** Cuts the way between two ports. Both reach the others. */
	void separate(int one, int other) {
		this.separated.add(Set.of(one, other));
	}

	/** Undoes every disturbance, cut, division and separation. */
	void repair() {
		disturb(Duration.ZERO, 0);
		this.separated.clear();
		for (Port port : this.ports) {
			port.cut = false;
			port.side = 0;
		}
	}

	private boolean reaches(Port from, Port to) {
		return !to.cut && !from.cut && to.side == from.side && !this.separated.contains(Set.of(from.number, to.number));
	}

	private void pass(Port from, byte[] frame) {
		ByteBuffer header = ByteBuffer.wrap(frame);
		this.learned.put(address(header, SENDER_AT), from);
		Port to = this.learned.get(address(header, 0));
		long due = System.nanoTime() + this.delayNanos;
		for (Port port : this.ports) {
			if (port != from && (to == null || to == port) && reaches(from, port)) {
				port.frames.add(new Frame(frame, due));
			}
		}
	}

	private static long address(ByteBuffer frame, int at) {
		return (frame.getInt(at) & 0xffffffffL) << 16 | (frame.getShort(at + 4) & 0xffff);
	}

	/** Closes all ports and their devices. */
	void close() throws InterruptedException {
		this.closed = true;
		for (Port port : this.ports) {
			port.end();
		}
	}

	private record Frame(byte[] bytes, long dueNanos) implements Delayed {

		@Override
		public long getDelay(TimeUnit unit) {
			return unit.convert(this.dueNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
		}

		@Override
		public int compareTo(Delayed other) {
			return Long.signum(this.dueNanos - ((Frame) other).dueNanos);
		}

	}

	private final class Port {

		private final TapDevice card;

		private final int number;

		private final DelayQueue<Frame> frames = new DelayQueue<>();

		/** Seeded, so that each run loses the same frames as far as the timing allows. */
		private final Random chance;

		private final List<Thread> threads = new ArrayList<>();

		private volatile boolean cut;

		private volatile int side;

		Port(TapDevice card, int number) {
			this.card = card;
			this.number = number;
			this.chance = new Random(number);
		}

		void start() {
			this.threads.add(Thread.ofPlatform().daemon().name("port-in-" + this.number).start(this::receive));
			this.threads.add(Thread.ofPlatform().daemon().name("port-out-" + this.number).start(this::deliver));
		}

		private void receive() {
			try {
				while (!TestSwitch.this.closed) {
					byte[] frame = this.card.receive(LOOK_MILLIS);
					if (frame.length > 2 * SENDER_AT && this.chance.nextDouble() >= TestSwitch.this.loss) {
						pass(this, frame);
					}
				}
			}
			catch (IOException ex) {
				// Without its card a port is dead.
			}
		}

		private void deliver() {
			try {
				while (!TestSwitch.this.closed) {
					Frame frame = this.frames.poll(LOOK_MILLIS, TimeUnit.MILLISECONDS);
					if (frame != null && !this.cut) {
						this.card.send(frame.bytes());
					}
				}
			}
			catch (IOException ex) {
				// Without its card a port is dead.
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}

		void end() throws InterruptedException {
			for (Thread thread : this.threads) {
				thread.join(Duration.ofSeconds(5));
			}
			this.card.close();
		}

	}

}
