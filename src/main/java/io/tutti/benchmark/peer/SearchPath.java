package io.tutti.benchmark.peer;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The directories in which programs are searched, in order.
 */
record SearchPath(List<Path> directories) {

	static SearchPath ofThisProcess() {
		String path = System.getenv().getOrDefault("PATH", "/usr/local/bin:/usr/bin:/bin");
		return new SearchPath(
				Arrays.stream(path.split(File.pathSeparator)).filter((part) -> !part.isEmpty()).map(Path::of).toList());
	}

	Optional<Path> find(String program) {
		return this.directories.stream()
			.map((directory) -> directory.resolve(program))
			.filter(Files::isExecutable)
			.findFirst();
	}

	/**
	 * The program's path.
	 * @throws PeerUnavailableException if it is not installed
	 */
	Path require(String program) throws PeerUnavailableException {
		return find(program).orElseThrow(() -> new PeerUnavailableException(program + " is not installed"));
	}

}
