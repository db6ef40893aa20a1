package io.tutti.chart;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Scanner;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.tutti.CollectiveException;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.TestJvm;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/**
 * One rank in a separate process, an application with a web server, controlled by lines
 * on its input: {@code world CALLS DELAY} runs all-reduces of the world group, each after
 * a delay in milliseconds; {@code part COUNT DELAY} runs one all-reduce of a new group of
 * all ranks. The end of the input ends the rank.
 */
final class OrderedRank implements AutoCloseable {

	private final Process process;

	private OrderedRank(Process process) {
		this.process = process;
	}

	/**
	 * Starts a rank.
	 * @param log file for its output
	 * @param variables its environment
	 */
	static OrderedRank start(Path log, Map<String, String> variables) {
		return start(log, variables, TestJvm.command("--add-opens", "java.base/sun.nio.ch=ALL-UNNAMED", "-cp",
				classPath(), OrderedRank.class.getName()));
	}

	/** Starts Tutti's own program. */
	static OrderedRank startTutti(Path log, Map<String, String> variables, String... arguments) {
		Map<String, String> all = new HashMap<>(variables);
		all.put("JAVA_HOME", System.getProperty("java.home"));
		all.put("TUTTI_JAVA_OPTS", "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -Xmn48m");
		return start(log, all,
				Stream.concat(Stream.of(Path.of("tutti").toAbsolutePath().toString()), Stream.of(arguments)).toList());
	}

	private static OrderedRank start(Path log, Map<String, String> variables, List<String> command) {
		ProcessBuilder builder = new ProcessBuilder(command).directory(log.getParent().toFile())
			.redirectErrorStream(true)
			.redirectOutput(log.toFile());
		builder.environment().putAll(variables);
		try {
			return new OrderedRank(builder.start());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Absolute, since a rank runs in the folder of its log. */
	private static String classPath() {
		return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
			.map((entry) -> Path.of(entry).toAbsolutePath().toString())
			.collect(Collectors.joining(File.pathSeparator));
	}

	/** Gives the rank an order. */
	void order(String line) {
		try {
			this.process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
			this.process.getOutputStream().flush();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Kills the rank. */
	void kill() {
		this.process.destroyForcibly();
	}

	@Override
	public void close() {
		kill();
	}

	public static void main(String[] arguments) throws InterruptedException {
		try (ConfigurableApplicationContext context = SpringApplication.run(Host.class, arguments);
				Scanner orders = new Scanner(System.in)) {
			ProcessGroup world = context.getBean(ProcessGroup.class);
			while (orders.hasNext()) {
				obey(world, orders.next(), orders.nextInt(), orders.nextInt());
			}
		}
	}

	private static void obey(ProcessGroup world, String group, int number, int delayMillis)
			throws InterruptedException {
		try {
			switch (group) {
				case "world" -> {
					for (int call = 0; call < number; call++) {
						TimeUnit.MILLISECONDS.sleep(delayMillis);
						world.allReduce(new float[1000], ReduceOp.SUM);
					}
				}
				case "part" -> {
					ProcessGroup part = world.split(0, world.rank());
					TimeUnit.MILLISECONDS.sleep(delayMillis);
					part.allReduce(new float[number], ReduceOp.SUM);
				}
				default -> throw new IllegalArgumentException("unknown order: " + group);
			}
		}
		catch (CollectiveException ex) {
			System.out.println("failed: " + ex.getMessage());
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Host {

	}

}
