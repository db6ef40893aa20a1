package io.tutti.service.recorder;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.tutti.Failure;
import io.tutti.engine.FailureReason;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.JoinedGroup;
import io.tutti.engine.diagnosis.RankTrace;
import io.tutti.service.config.FlightRecorderProperties;
import io.tutti.service.config.RendezvousProperties;
import io.tutti.service.group.BrokenGeneration;
import io.tutti.service.group.GroupLifecycle;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.DisposableBean;

/**
 * Writes this rank's flight recorder to a file when the group breaks, and logs its path.
 * A rank without peers writes none: its failure is its own, and there is nothing to
 * compare. Shutdown waits up to a second for the file. The format does not depend on the
 * application's own writing of JSON, so that files of different jobs can be compared.
 */
final class FailureFile implements DisposableBean {

	private static final Logger log = LoggerFactory.getLogger(FailureFile.class);

	private static final long WRITE_LIMIT_SECONDS = 1;

	private final GroupLifecycle group;

	private final FlightRecorderProperties properties;

	private final FailureFolder folder;

	/** Completes when the first generation has broken. */
	private final CompletableFuture<Void> broken = new CompletableFuture<>();

	/** Completes when the file of the last broken generation has been written. */
	private volatile CompletableFuture<Void> written = CompletableFuture.completedFuture(null);

	FailureFile(GroupLifecycle group, FlightRecorderProperties properties, RendezvousProperties rendezvous) {
		this.group = group;
		this.properties = properties;
		// The launcher's rank, since that of a generation may have been another process's
		// before.
		RankAssignment launched = group.assignment();
		this.folder = new FailureFolder(properties.place(), FailureFolder.nameOf(rendezvous.jobId(), launched),
				launched.rank(), properties.keep());
		if (properties.onFailure()) {
			group.onBroken(this::begin);
		}
		else {
			this.broken.complete(null);
		}
	}

	private void begin(BrokenGeneration generation) {
		this.written = CompletableFuture.runAsync(() -> write(generation), Thread::startVirtualThread);
		this.broken.complete(null);
	}

	private void write(BrokenGeneration generation) {
		RankTrace trace = generation.trace();
		if (trace == null || generation.assignment().worldSize() == 1) {
			return;
		}
		try {
			byte[] content = JsonMapper.shared()
				.writeValueAsBytes(FlightRecorderView.of(trace, generation.assignment().worldSize(),
						generation.failure().describe()));
			Path file = this.folder.write(content, Instant.now());
			log.warn("the last collectives of this rank are in {}", file);
		}
		catch (IOException | RuntimeException ex) {
			log.warn("the flight recorder could not be written to {}: {}", this.properties.place(),
					FailureReason.of(ex));
		}
	}

	@Override
	public void destroy() {
		JoinedGroup joined = this.group.joined();
		@Nullable Failure failure = (joined != null) ? joined.world().failure() : null;
		CompletableFuture<Void> last = (failure != null) ? this.broken.thenCompose((_) -> this.written) : this.written;
		try {
			last.get(WRITE_LIMIT_SECONDS, TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (ExecutionException | TimeoutException ex) {
			log.debug("the flight recorder was not written", ex);
		}
	}

}
