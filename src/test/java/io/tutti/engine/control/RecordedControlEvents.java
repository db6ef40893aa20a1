package io.tutti.engine.control;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import io.tutti.Failure;
import io.tutti.engine.spi.CallReport;
import org.jspecify.annotations.Nullable;

/** Records the events that the control plane sends to a rank. */
public class RecordedControlEvents implements ControlListener {

	public final List<Failure> failures = new CopyOnWriteArrayList<>();

	public final List<Departure> departures = new CopyOnWriteArrayList<>();

	public final List<String> drains = new CopyOnWriteArrayList<>();

	public final List<String> notes = new CopyOnWriteArrayList<>();

	public final List<String> warnings = new CopyOnWriteArrayList<>();

	public final List<Integer> withdrawn = new CopyOnWriteArrayList<>();

	public final List<Integer> closedByKernel = new CopyOnWriteArrayList<>();

	public final Map<String, Long> entered = new ConcurrentHashMap<>();

	public final Map<String, List<Integer>> members = new ConcurrentHashMap<>();

	public final List<Long> asked = new CopyOnWriteArrayList<>();

	public final Map<Long, CallReport> calls = new ConcurrentHashMap<>();

	public final AtomicInteger pings = new AtomicInteger();

	@Override
	public void failed(Failure verdict) {
		this.failures.add(verdict);
	}

	@Override
	public void departed(Departure departure) {
		this.departures.add(departure);
	}

	@Override
	public void closedByKernel(int rank) {
		this.closedByKernel.add(rank);
	}

	@Override
	public void drainRequested(String reason) {
		this.drains.add(reason);
	}

	@Override
	public void withdrew(int rank) {
		this.withdrawn.add(rank);
	}

	@Override
	public long lastEntered(String group) {
		return this.entered.getOrDefault(group, -1L);
	}

	@Override
	public List<RankProgress> progress() {
		this.pings.incrementAndGet();
		return this.entered.entrySet()
			.stream()
			.map((entry) -> new RankProgress(entry.getKey(), entry.getValue()))
			.toList();
	}

	@Override
	public List<Integer> members(String group) {
		return this.members.getOrDefault(group, List.of());
	}

	@Override
	public @Nullable CallReport called(String group, long sequence) {
		this.asked.add(sequence);
		return this.calls.get(sequence);
	}

	@Override
	public void note(String message) {
		this.notes.add(message);
	}

	@Override
	public void warn(String message) {
		this.warnings.add(message);
	}

}
