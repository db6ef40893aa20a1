package io.tutti.service.command;

import java.io.File;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.ZipFile;

import io.tutti.engine.FailureReason;
import io.tutti.training.table.ClassifierTask;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/**
 * The options that select the task of {@code train}.
 */
final class TaskSelection {

	/** Every jar of a folder, as in Java's own class path. */
	private static final String EVERY_JAR = "*";

	@Option(names = "--task", paramLabel = "NAME",
			description = "Task to train: the name of a class that implements TrainingTask, or of a bean"
					+ " (default: a classifier of the rows of a table).")
	private @Nullable String task;

	@Option(names = "--class-path", paramLabel = "JARS",
			description = "Jars and folders that hold the task's classes, separated by ':'; DIR/* for every jar of a"
					+ " folder.")
	private @Nullable String classPath;

	/**
	 * Reads the selection from arguments among others, before the options of the selected
	 * task are known.
	 */
	static TaskSelection among(String... arguments) {
		TaskSelection selection = new TaskSelection();
		try {
			new CommandLine(selection).setUnmatchedArgumentsAllowed(true).parseArgs(arguments);
		}
		catch (ParameterException ex) {
			// The command finds the same error again and reports it.
			return new TaskSelection();
		}
		return selection;
	}

	/** Name of the class or bean. */
	String name() {
		return (this.task != null) ? this.task : ClassifierTask.class.getName();
	}

	/**
	 * A loader of the class path, whose parent is this program's.
	 * @throws IllegalArgumentException if an entry does not exist or is not a jar
	 */
	ClassLoader loader() {
		ClassLoader own = TaskSelection.class.getClassLoader();
		if (this.classPath == null) {
			return own;
		}
		List<URL> entries = new ArrayList<>();
		for (String entry : this.classPath.split(File.pathSeparator)) {
			Path path = Path.of(entry);
			if (path.endsWith(EVERY_JAR)) {
				jarsOf(path.toAbsolutePath().getParent()).forEach((jar) -> entries.add(url(jar)));
			}
			else if (!entry.isEmpty()) {
				entries.add(url(path));
			}
		}
		return new URLClassLoader("task", entries.toArray(URL[]::new), own);
	}

	private static List<Path> jarsOf(Path folder) {
		List<Path> jars = new ArrayList<>();
		try (DirectoryStream<Path> found = Files.newDirectoryStream(folder, "*.jar")) {
			found.forEach(jars::add);
		}
		catch (IOException ex) {
			throw new IllegalArgumentException(
					"--class-path: the folder " + folder + " cannot be read: " + FailureReason.of(ex), ex);
		}
		if (jars.isEmpty()) {
			throw new IllegalArgumentException("--class-path: the folder " + folder + " holds no jar");
		}
		jars.sort(null);
		return jars;
	}

	private static URL url(Path entry) {
		if (!Files.exists(entry)) {
			throw new IllegalArgumentException(
					"--class-path: " + entry + " does not exist (looked up in " + Path.of("").toAbsolutePath() + ")");
		}
		if (!Files.isDirectory(entry)) {
			requireJar(entry);
		}
		try {
			return entry.toUri().toURL();
		}
		catch (MalformedURLException ex) {
			throw new IllegalArgumentException("--class-path: " + entry + " is not a usable path", ex);
		}
	}

	/** A class loader would ignore a file that is not a jar. */
	private static void requireJar(Path file) {
		try {
			new ZipFile(file.toFile()).close();
		}
		catch (IOException ex) {
			throw new IllegalArgumentException("--class-path: " + file + " is not a readable jar: " + ex.getMessage(),
					ex);
		}
	}

}
