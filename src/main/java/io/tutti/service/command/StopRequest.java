package io.tutti.service.command;

import java.util.Map;
import java.util.concurrent.CompletableFuture;

import io.tutti.launch.LauncherWatch;
import org.jspecify.annotations.Nullable;

/**
 * A request to stop this rank: a signal, or the end of the launcher that started it. The
 * first reason is kept.
 */
final class StopRequest implements AutoCloseable {

	private final CompletableFuture<String> reason = new CompletableFuture<>();

	private final @Nullable LauncherWatch watch;

	/** Watches for the end of the launcher only. */
	StopRequest(Map<String, String> environment) {
		this.watch = LauncherWatch.start(environment, () -> ask("the launcher has ended"));
	}

	/**
	 * Watches for SIGTERM, Ctrl-C, the end of the terminal and that of the launcher.
	 * Replaces the JVM's signal handlers, which would exit with 143, 130 and 129. A
	 * SIGHUP that the process was started to ignore stays ignored.
	 */
	static StopRequest listen(Map<String, String> environment) {
		StopRequest request = new StopRequest(environment);
		Signals.handle("TERM", () -> request.ask("SIGTERM"));
		Signals.handle("INT", () -> request.ask("Ctrl-C"));
		Signals.handle("HUP", () -> request.ask("SIGHUP"));
		return request;
	}

	/** Requests the stop. */
	void ask(String reason) {
		this.reason.complete(reason);
	}

	/** The reason, once a stop is requested. */
	CompletableFuture<String> reason() {
		return this.reason.copy();
	}

	@Override
	public void close() {
		if (this.watch != null) {
			this.watch.close();
		}
	}

}
