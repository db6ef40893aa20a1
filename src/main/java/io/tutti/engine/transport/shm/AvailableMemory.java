package io.tutti.engine.transport.shm;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * Bytes that a process can still use before the kernel ends one.
 */
final class AvailableMemory {

	private static final Path GROUPS = Path.of("/sys/fs/cgroup");

	private static final long KIB = 1 << 10;

	private AvailableMemory() {
	}

	/** What the host can still provide, at most what is left to this process. */
	static long ofHost() {
		try (Stream<String> lines = Files.lines(Path.of("/proc/meminfo"))) {
			return lines.filter((line) -> line.startsWith("MemAvailable:"))
				.mapToLong((line) -> Long.parseLong(line.replaceAll("\\D", "")) * KIB)
				.reduce(ofGroups(GROUPS, ownGroup()), Math::min);
		}
		catch (IOException | UncheckedIOException ex) {
			return Long.MAX_VALUE;
		}
	}

	/**
	 * The control group of version 2; in a container that of the container is the root.
	 */
	private static Path ownGroup() throws IOException {
		try (Stream<String> lines = Files.lines(Path.of("/proc/self/cgroup"))) {
			return GROUPS.resolve(lines.filter((line) -> line.startsWith("0::/"))
				.map((line) -> line.substring("0::/".length()))
				.findFirst()
				.orElse(""));
		}
	}

	/** The least that is left of the limits of a control group and those that hold it. */
	static long ofGroups(Path root, Path own) {
		return Stream.iterate(own.normalize(), (group) -> group.startsWith(root), Path::getParent)
			.mapToLong(AvailableMemory::ofGroup)
			.min()
			.orElse(Long.MAX_VALUE);
	}

	/**
	 * What is left of the limit of a control group of version 2, with the page cache,
	 * which the kernel frees first. Unlimited if there is no such limit.
	 */
	private static long ofGroup(Path group) {
		try (Stream<String> lines = Files.lines(group.resolve("memory.stat"))) {
			long cached = lines.filter((line) -> line.matches("(in)?active_file \\d+"))
				.mapToLong((line) -> Long.parseLong(line.substring(line.indexOf(' ') + 1)))
				.sum();
			return Math.max(0, bytes(group, "memory.max") - bytes(group, "memory.current") + cached);
		}
		catch (IOException | UncheckedIOException | NumberFormatException ex) {
			return Long.MAX_VALUE;
		}
	}

	private static long bytes(Path group, String file) throws IOException {
		return Long.parseLong(Files.readString(group.resolve(file)).strip());
	}

}
