package io.tutti.benchmark.peer;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.CRC32;

/**
 * Compiles the peers' programs from the bundled sources. Results are cached by source,
 * compiler, arguments, libraries and processor, for which {@code -march=native} compiles.
 */
final class PeerBuild {

	/** Long enough to compile Gloo's headers. */
	static final Duration LIMIT = Duration.ofMinutes(3);

	private static final Path PROCESSORS = Path.of("/proc/cpuinfo");

	private final Path directory;

	private final SearchPath path;

	private final BoundedProcess process;

	/**
	 * A build.
	 * @param directory directory for the results
	 * @param path search path for compilers
	 */
	PeerBuild(Path directory, SearchPath path, BoundedProcess process) {
		this.directory = directory;
		this.path = path;
		this.process = process;
	}

	/**
	 * The compiled program.
	 * @throws PeerUnavailableException if the compiler is missing or fails
	 */
	Path build(PeerProgram program) throws PeerUnavailableException, IOException, InterruptedException {
		Path compiler = this.path.require(program.compiler());
		byte[] source = source(program.source());
		Path result = this.directory.resolve(stamp(program, compiler, source) + "-" + program.name());
		if (!Files.exists(result)) {
			Files.createDirectories(this.directory);
			compile(program, compiler, source, result);
		}
		return result;
	}

	/**
	 * Builds in a temporary directory and renames the result, since another rank 0 may
	 * build the same program.
	 */
	private void compile(PeerProgram program, Path compiler, byte[] source, Path result)
			throws PeerUnavailableException, IOException, InterruptedException {
		try (TemporaryDirectory work = TemporaryDirectory.createIn(this.directory)) {
			Path copy = Files.write(work.path().resolve(program.source()), source);
			Path output = work.path().resolve(program.name());
			List<String> command = new ArrayList<>(List.of(compiler.toString()));
			command.addAll(program.flags());
			command.addAll(List.of("-o", output.toString(), copy.toString()));
			command.addAll(program.libraries());
			ProcessOutcome outcome = this.process.run(command, Map.of(), LIMIT);
			if (!outcome.succeeded()) {
				throw new PeerUnavailableException("building " + program.source() + " with " + program.compiler()
						+ " failed: " + outcome.reason());
			}
			Files.move(output, result, StandardCopyOption.ATOMIC_MOVE);
		}
	}

	private static byte[] source(String name) throws IOException {
		try (InputStream stream = PeerBuild.class.getResourceAsStream("/bench/" + name)) {
			if (stream == null) {
				throw new IOException("the source /bench/" + name + " is missing from the class path");
			}
			return stream.readAllBytes();
		}
	}

	/** Names a result by its inputs. */
	private String stamp(PeerProgram program, Path compiler, byte[] source) throws IOException, InterruptedException {
		CRC32 sum = new CRC32();
		sum.update(source);
		sum.update(
				(version(compiler) + " " + program.flags() + " " + libraries(program, compiler) + " " + thisProcessor())
					.getBytes(StandardCharsets.UTF_8));
		return String.format(Locale.ROOT, "%08x", sum.getValue());
	}

	/** A file that was replaced has another date. */
	private static String version(Path file) throws IOException {
		return file.toRealPath() + " " + Files.getLastModifiedTime(file);
	}

	/** The arguments for libraries, and the files that the compiler finds for them. */
	private List<String> libraries(PeerProgram program, Path compiler) throws IOException, InterruptedException {
		List<String> found = new ArrayList<>(program.libraries());
		for (String library : program.libraries()) {
			for (String ending : List.of(".so", ".a")) {
				String name = "lib" + library.substring("-l".length()) + ending;
				List<String> command = List.of(compiler.toString(), "-print-file-name=" + name);
				for (String file : this.process.run(command, Map.of(), LIMIT).output()) {
					// Otherwise it answers with the name.
					if (Path.of(file).isAbsolute() && Files.exists(Path.of(file))) {
						found.add(version(Path.of(file)));
					}
				}
			}
		}
		return found;
	}

	private static List<String> thisProcessor() throws IOException {
		try (Stream<String> lines = Files.lines(PROCESSORS)) {
			return processor(lines);
		}
	}

	/** The lines with the models and flags of the processors. */
	static List<String> processor(Stream<String> lines) {
		return lines.filter((line) -> line.startsWith("model") || line.startsWith("flags")).distinct().toList();
	}

}
