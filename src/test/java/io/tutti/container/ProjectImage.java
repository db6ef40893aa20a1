package io.tutti.container;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Assumptions;
import org.testcontainers.DockerClientFactory;

/**
 * The image that the ranks run on: {@code TUTTI_IMAGE}, else built from this tree on
 * {@code TUTTI_BASE_IMAGE}.
 */
final class ProjectImage {

	private static final String BUILT = "tutti:test";

	private static final String BUILT_FOR_GPUS = "tutti:test-cuda";

	private static final String REQUIRED = "TUTTI_CONTAINERS_REQUIRED";

	private ProjectImage() {
	}

	/** The image's name. Without a Docker engine the tests are skipped, or fail in CI. */
	static String require() throws IOException, InterruptedException {
		boolean engine = DockerClientFactory.instance().isDockerAvailable();
		if (!engine && Boolean.parseBoolean(System.getenv(REQUIRED))) {
			throw new AssertionError("there is no Docker engine, and " + REQUIRED + " says that there must be");
		}
		Assumptions.assumeTrue(engine, "no Docker engine: ranks in containers are not tested");
		String given = System.getenv("TUTTI_IMAGE");
		return (given != null) ? given : build(BUILT, List.of());
	}

	/**
	 * The name of the image for GPUs, on the base of the other: what CUDA's own would
	 * bring is not there.
	 */
	static String requireForGpus() throws IOException, InterruptedException {
		String base = System.getenv("TUTTI_BASE_IMAGE");
		Assumptions.assumeTrue(base != null, "TUTTI_BASE_IMAGE names no base to build the image for GPUs on");
		return build(BUILT_FOR_GPUS, List.of("--target", "cuda", "--build-arg", "CUDA_IMAGE=" + base));
	}

	/**
	 * The distribution's own client before any other on the path: it speaks its engine's
	 * version.
	 */
	private static String client() {
		Path own = Path.of("/usr/bin/docker");
		return Files.isExecutable(own) ? own.toString() : "docker";
	}

	private static String build(String name, List<String> options) throws IOException, InterruptedException {
		List<String> command = new ArrayList<>(List.of(client(), "build", "-q", "-t", name));
		command.addAll(options);
		String base = System.getenv("TUTTI_BASE_IMAGE");
		if (base != null) {
			command.addAll(List.of("--build-arg", "BASE_IMAGE=" + base, "--build-arg", "BUILD_IMAGE=" + base));
		}
		command.add(".");
		Path log = Files.createTempFile("tutti-image", ".log");
		ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
		builder.environment().put("DOCKER_BUILDKIT", "1");
		Process build = builder.start();
		if (!build.waitFor(10, TimeUnit.MINUTES) || build.exitValue() != 0) {
			build.destroyForcibly();
			throw new AssertionError("the image cannot be built:\n" + Files.readString(log));
		}
		Files.delete(log);
		return name;
	}

}
