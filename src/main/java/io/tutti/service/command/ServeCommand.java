package io.tutti.service.command;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

import io.tutti.ExitCode;
import io.tutti.service.config.ServeProperties;
import io.tutti.service.group.GroupLifecycle;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;

import org.springframework.context.ApplicationContext;

/**
 * {@code serve}: one rank that joins its group and serves REST and health until it is
 * stopped.
 */
@Command(name = "serve", mixinStandardHelpOptions = true, exitCodeOnInvalidInput = ExitCode.BAD_CONFIGURATION,
		description = "One rank: joins the group, serves REST and health until it is stopped.",
		footerHeading = "%nExamples:%n",
		footer = { "  ./tutti serve                              rank 0 of 1, HTTP on 127.0.0.1:8080",
				"  ./tutti launch -n 3 serve                  three ranks, HTTP on 8080, 8081, 8082",
				"  ./tutti serve --tutti.serve.linger=30s     exit 30 s after the group broke" })
final class ServeCommand implements Callable<Integer> {

	private static final Logger log = LoggerFactory.getLogger(ServeCommand.class);

	@ParentCommand
	private @Nullable TuttiCommand root;

	@Spec
	private @Nullable CommandSpec spec;

	@Mixin
	private RankOptions options = new RankOptions();

	@Unmatched
	private List<String> rest = new ArrayList<>();

	@Override
	public Integer call() {
		List<String> properties = this.options.properties(this.spec.commandLine(), this.rest);
		try (StopRequest stop = StopRequest.listen(System.getenv())) {
			stop.reason().thenRun(() -> ExitDeadline.haltAfter(RankService.CLOSING, ExitCode.DONE));
			return new RankService(this.root.application(), properties, Map.of(), this.options.debug())
				.run((context) -> serve(context, stop));
		}
	}

	private static int serve(ApplicationContext context, StopRequest stop) throws Exception {
		GroupLifecycle group = context.getBean(GroupLifecycle.class);
		Duration linger = context.getBean(ServeProperties.class).linger();
		CompletableFuture<Void> end = group.isElastic() ? new ElasticService(group, linger).end()
				: new BrokenGroup(group, linger).end();
		Await.first(stop.reason(), drained(group), end);
		return ExitCode.DONE;
	}

	/** Completes when a rank requests a drain of the group. */
	private static CompletableFuture<String> drained(GroupLifecycle group) {
		CompletableFuture<String> drained = new CompletableFuture<>();
		group.onFormed((joined) -> joined.onDrain((reason) -> {
			log.info("stop requested: {}", reason);
			drained.complete(reason);
		}));
		return drained;
	}

}
