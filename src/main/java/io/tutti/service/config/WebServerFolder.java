package io.tutti.service.config;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.tutti.BadConfigurationException;
import io.tutti.engine.FailureReason;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.core.env.Environment;

/**
 * Creates the web server's folders with the process id in their names, so that the next
 * rank to start can remove those of a killed rank. The folders stay empty, and only empty
 * folders are removed.
 */
final class WebServerFolder implements WebServerFactoryCustomizer<TomcatServletWebServerFactory>, DisposableBean {

	private static final String PREFIX = "tutti-http-";

	private static final Pattern NAME = Pattern.compile(PREFIX + "(\\d{1,18})-.*");

	private final boolean given;

	private final Path parent;

	private final List<Path> made = new ArrayList<>();

	@Autowired
	WebServerFolder(Environment environment) {
		this(Path.of(System.getProperty("java.io.tmpdir")), environment.containsProperty("server.tomcat.basedir"));
	}

	WebServerFolder(Path parent, boolean given) {
		this.parent = parent;
		this.given = given;
	}

	@Override
	public void customize(TomcatServletWebServerFactory factory) {
		if (!this.given) {
			sweep();
			Path folder = make();
			factory.setBaseDirectory(folder.toFile());
			factory.setDocumentRoot(folder.resolve("root").toFile());
		}
	}

	private Path make() {
		try {
			Path folder = Files.createTempDirectory(this.parent, PREFIX + ProcessHandle.current().pid() + "-");
			Files.createDirectory(folder.resolve("root"));
			this.made.add(folder);
			return folder;
		}
		catch (IOException ex) {
			throw new BadConfigurationException(
					"no temporary folder for HTTP can be created in " + this.parent + ": " + reason(ex),
					"Give a folder that can be written: -Djava.io.tmpdir=DIR in TUTTI_JAVA_OPTS, or --tmpfs /tmp for a"
							+ " container",
					ex);
		}
	}

	/** Without the name of the new folder, whose parent the message has already. */
	private static String reason(IOException failure) {
		return switch (failure) {
			case NoSuchFileException _ -> "it does not exist";
			case AccessDeniedException _ -> "permission denied";
			case FileSystemException ex when ex.getReason() != null -> ex.getReason();
			default -> FailureReason.of(failure);
		};
	}

	/** Removes folders of dead processes. Folders that cannot be removed stay. */
	void sweep() {
		try (Stream<Path> entries = Files.list(this.parent)) {
			entries.filter(WebServerFolder::isLeftOver).forEach(WebServerFolder::removeEmpty);
		}
		catch (IOException | UncheckedIOException ex) {
			// A parent folder that cannot be listed is not cleaned up; the rank still
			// starts.
			return;
		}
	}

	private static boolean isLeftOver(Path entry) {
		Matcher name = NAME.matcher(entry.getFileName().toString());
		return name.matches() && ProcessHandle.of(Long.parseLong(name.group(1))).isEmpty();
	}

	private static void removeEmpty(Path folder) {
		try {
			Files.walkFileTree(folder, new SimpleFileVisitor<>() {
				@Override
				public FileVisitResult postVisitDirectory(Path empty, @Nullable IOException ex) throws IOException {
					Files.delete(empty);
					return FileVisitResult.CONTINUE;
				}
			});
		}
		catch (IOException ex) {
			// The folder is not empty, belongs to another user, or is removed by another
			// rank.
			return;
		}
	}

	@Override
	public void destroy() {
		this.made.forEach(WebServerFolder::removeEmpty);
	}

}
