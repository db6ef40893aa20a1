package io.tutti.service.command;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.Proxy;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;

import io.tutti.DataType;
import io.tutti.ExitCode;
import io.tutti.ReduceOp;
import io.tutti.benchmark.BenchmarkOptions;
import io.tutti.benchmark.BenchmarkReport;
import io.tutti.benchmark.BufferKind;
import io.tutti.benchmark.Operation;
import io.tutti.training.LibtorchLoader;
import io.tutti.training.job.TrainingOptions;
import io.tutti.training.table.ClassifierOptions;
import io.tutti.training.table.ClassifierTask;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParentCommand;

import org.springframework.context.ConfigurableApplicationContext;

/**
 * {@code rehearse}: the arguments of each rank's command, a short training, HTTP requests
 * and a short benchmark. During this run the script records the classes that the JVM
 * loads and links into the AOT cache that later ranks use.
 */
@Command(name = "rehearse", hidden = true, mixinStandardHelpOptions = true,
		exitCodeOnInvalidInput = ExitCode.BAD_CONFIGURATION,
		description = "One rank of a short run that is recorded for the AOT cache.")
final class RehearseCommand implements Callable<Integer> {

	/** The commands of ranks. */
	private static final List<String> COMMANDS = List.of("train", "serve", "bench");

	/** Paths that a cluster and its operators request. */
	private static final List<String> PATHS = List.of("/actuator/health/readiness", "/actuator/health/liveness",
			"/actuator/prometheus", "/actuator/rank", "/api/v1/group", "/api/v1/flight-recorder");

	/** Enough steps to reach each branch of the training loop. */
	private static final int EPOCHS = 3;

	/** Bounds a request that hangs; on a busy machine the first one takes seconds. */
	private static final int TIMEOUT_MILLIS = 60_000;

	/** Bounds the writing of the cache, which the virtual machine does when it ends. */
	private static final Duration RECORDING = Duration.ofMinutes(5);

	@ParentCommand
	private @Nullable TuttiCommand root;

	@Override
	public Integer call() {
		COMMANDS
			.forEach((name) -> TuttiCommand.commandLine(this.root.application(), List.of(name), name).parseArgs(name));
		LibtorchLoader.begin();
		try (StopRequest stop = StopRequest.listen(System.getenv())) {
			return new RankService(this.root.application(), List.of(), RankService.JOB_DEFAULTS, true)
				.run((context) -> rehearse(context, stop), RECORDING);
		}
	}

	private static int rehearse(ConfigurableApplicationContext context, StopRequest stop) throws Exception {
		TrainingOptions training = new TrainingOptions(EPOCHS, TrainingOptions.DEFAULT_GLOBAL_BATCH,
				TrainingOptions.DEFAULT_SEED, TrainingOptions.DEFAULT_THREADS, null, null);
		int code = TrainingRun.of(context, new ClassifierTask(ClassifierOptions.defaults()), training).run(stop);
		int port = context.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
		for (String path : PATHS) {
			request(URI.create("http://127.0.0.1:" + port + path));
		}
		BenchmarkOptions benchmark = new BenchmarkOptions(List.of(Operation.values()), DataType.FLOAT32.bytes(), 65_536,
				128, 50, 0, DataType.FLOAT32, ReduceOp.SUM, BufferKind.PRIVATE, Duration.ofMillis(1));
		return (code == ExitCode.DONE) ? new BenchmarkRun(context, benchmark, BenchmarkReport.TSV, BindTo.NONE).run()
				: code;
	}

	/** Sends a request and discards the response. */
	private static void request(URI uri) throws IOException {
		HttpURLConnection connection = (HttpURLConnection) uri.toURL().openConnection(Proxy.NO_PROXY);
		connection.setReadTimeout(TIMEOUT_MILLIS);
		if (connection.getResponseCode() == HttpURLConnection.HTTP_OK) {
			try (InputStream body = connection.getInputStream()) {
				body.readAllBytes();
			}
		}
		connection.disconnect();
	}

}
