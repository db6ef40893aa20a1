package io.tutti.service.command;

import java.util.Map;
import java.util.concurrent.CompletableFuture;

import io.tutti.launch.LauncherWatch;
import org.jspecify.annotations.Nullable;

/**
 * Somebody wants this rank to end: a signal, or the death of the launcher that started
 * it. The first reason stays.
 */
final class StopRequest implements AutoCloseable {

	private final CompletableFuture<String> reason = new CompletableFuture<>();

	private final @Nullable LauncherWatch watch;

	/** Listens for the launcher's end alone. */
	StopRequest(Map<String, String> environment) {
		this.watch = LauncherWatch.start(environment, () -> ask("the launcher is gone"));
	}

	/**
	 * Listens for SIGTERM, Ctrl-C and the launcher's end, from now on in place of the
	 * JVM's own handling, by which exit codes would be 143 and 130.
	 */
	static StopRequest listen(Map<String, String> environment) {
		StopRequest request = new StopRequest(environment);
		Signals.handle("TERM", () -> request.ask("SIGTERM"));
		Signals.handle("INT", () -> request.ask("Ctrl-C"));
		return request;
	}

	/** Asks for the end. */
	void ask(String reason) {
		this.reason.complete(reason);
	}

	/** Why this rank should end, once it should. */
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
