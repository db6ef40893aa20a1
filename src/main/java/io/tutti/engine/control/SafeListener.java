package io.tutti.engine.control;

import java.util.List;

import io.tutti.Failure;
import io.tutti.engine.spi.CallReport;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the control thread alive when a listener throws, since other ranks depend on it.
 */
public final class SafeListener implements ControlListener {

	private static final long NONE_ENTERED = -1;

	private final ControlListener events;

	public SafeListener(ControlListener events) {
		this.events = events;
	}

	@Override
	public void failed(Failure verdict) {
		guard("failed", () -> this.events.failed(verdict));
	}

	@Override
	public void departed(Departure departure) {
		guard("departed", () -> this.events.departed(departure));
	}

	@Override
	public void drainRequested(String reason) {
		guard("drainRequested", () -> this.events.drainRequested(reason));
	}

	@Override
	public long lastEntered(String group) {
		try {
			return this.events.lastEntered(group);
		}
		catch (RuntimeException ex) {
			complain("lastEntered", ex);
			return NONE_ENTERED;
		}
	}

	@Override
	public List<RankProgress> progress() {
		try {
			return this.events.progress();
		}
		catch (RuntimeException ex) {
			complain("progress", ex);
			return List.of();
		}
	}

	@Override
	public List<Integer> members(String group) {
		try {
			return this.events.members(group);
		}
		catch (RuntimeException ex) {
			complain("members", ex);
			return List.of();
		}
	}

	@Override
	public @Nullable CallReport called(String group, long sequence) {
		try {
			return this.events.called(group, sequence);
		}
		catch (RuntimeException ex) {
			complain("called", ex);
			return null;
		}
	}

	@Override
	public byte[] account(int limit) {
		try {
			return this.events.account(limit);
		}
		catch (RuntimeException ex) {
			complain("account", ex);
			return new byte[0];
		}
	}

	@Override
	public void withdrew(int rank) {
		guard("withdrew", () -> this.events.withdrew(rank));
	}

	@Override
	public void note(String message) {
		guard("note", () -> this.events.note(message));
	}

	@Override
	public void warn(String message) {
		try {
			this.events.warn(message);
		}
		catch (RuntimeException ex) {
			// No other way is left to report it.
		}
	}

	private void guard(String name, Runnable call) {
		try {
			call.run();
		}
		catch (RuntimeException ex) {
			complain(name, ex);
		}
	}

	private void complain(String name, RuntimeException ex) {
		warn("the control plane's listener threw from " + name + ": " + ex);
	}

}
