package io.tutti.launch;

import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.Manifest;

/**
 * How to start this program again: with the script that started it, which chooses the
 * flags for each command, else with the same Java, flags and jar.
 *
 * @param words the command line before Tutti's own arguments
 */
public record TuttiProgram(List<String> words) {

	/** Path of the script {@code tutti}, if it started this process. */
	public static final String SCRIPT_PROPERTY = "tutti.script";

	/**
	 * Manifest attributes that name the application in a Boot jar or in the jar extracted
	 * from it.
	 */
	private static final List<Attributes.Name> APPLICATION = List.of(new Attributes.Name("Start-Class"),
			Attributes.Name.MAIN_CLASS);

	public TuttiProgram {
		words = List.copyOf(words);
	}

	/**
	 * The program of this process: its script if known, else its jar if it runs from one,
	 * else its class path.
	 * @param mainClass name of the application's class
	 */
	public static TuttiProgram ofThisProcess(String mainClass) {
		String script = System.getProperty(SCRIPT_PROPERTY);
		return (script != null) ? new TuttiProgram(List.of(script)) : ofThisJvm(mainClass);
	}

	private static TuttiProgram ofThisJvm(String mainClass) {
		return of(Path.of(System.getProperty("java.home"), "bin", "java"),
				ManagementFactory.getRuntimeMXBean().getInputArguments(), System.getProperty("java.class.path"),
				mainClass);
	}

	static TuttiProgram of(Path java, List<String> flags, String classPath, String mainClass) {
		List<String> words = new ArrayList<>();
		words.add(java.toString());
		flags.stream().filter(TuttiProgram::isSharedByRanks).forEach(words::add);
		if (isApplicationJar(classPath, mainClass)) {
			words.addAll(List.of("-jar", new File(classPath).getAbsolutePath()));
		}
		else {
			words.addAll(List.of("-cp", classPath, mainClass));
		}
		return new TuttiProgram(words);
	}

	/** Drops agents: they listen on ports or write files that ranks cannot share. */
	private static boolean isSharedByRanks(String argument) {
		return !argument.startsWith("-agentlib:") && !argument.startsWith("-javaagent:")
				&& !argument.startsWith("-Xrunjdwp:");
	}

	private static boolean isApplicationJar(String classPath, String mainClass) {
		if (classPath.contains(File.pathSeparator) || !new File(classPath).isFile()) {
			return false;
		}
		try (JarFile jar = new JarFile(classPath)) {
			Manifest manifest = jar.getManifest();
			return manifest != null && APPLICATION.stream()
				.anyMatch((name) -> mainClass.equals(manifest.getMainAttributes().getValue(name)));
		}
		catch (IOException ex) {
			return false;
		}
	}

}
