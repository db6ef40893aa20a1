package io.tutti.engine.rendezvous;

import java.time.Duration;
import java.util.*;
import io.tutti.engine.Failure;

/** Temporary. */
public final class SimulatedControl {

	private final Map<Integer, ControlEvents> m = new TreeMap<>();

	private final int n;

	private Failure first;

	public SimulatedControl(int n) {
		this.n = n;
	}

	public synchronized ControlPlane join(int rank, ControlEvents events) {
		m.put(rank, events);
		return new ControlPlane() {
			public void report(Failure f) {
				if (f.kind() == Failure.Kind.TIMEOUT) {
					List<Integer> late = new ArrayList<>();
					for (var en : m.entrySet()) {
						if (en.getValue().lastEntered(f.group()) < f.sequence())
							late.add(en.getKey());
					}
					f = new Failure(f.kind(), f.group(), f.sequence(), f.collective(), late, f.detail(), f.elapsed(),
							f.timeout());
				}
				deliver(f);
			}

			public BarrierOutcome barrier(String l, Duration t) {
				throw new UnsupportedOperationException();
			}

			public void requestDrain(String r) {
				m.values().forEach(e -> e.drainRequested(r));
			}

			public List<PeerStatus> peers() {
				return List.of();
			}

			public void close() {
				m.remove(rank);
			}
		};
	}

	synchronized void deliver(Failure f) {
		if (first == null) {
			first = f;
			m.values().forEach(e -> e.failed(f));
		}
	}

	public void kill(int rank) {
		deliver(Failure.outside(Failure.Kind.PEER_LOST, Failure.WORLD, List.of(rank), "killed"));
	}

}
