package io.tutti.launch;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The script {@code ./tutti} in a checkout whose build and JDK are small scripts.
 */
@Timeout(60)
class ScriptTest {

	@TempDir
	private Path directory;

	private Path checkout;

	@BeforeEach
	void layOutACheckout() throws IOException {
		this.checkout = Files.createDirectory(this.directory.resolve("check out"));
		Files.copy(Path.of("tutti"), this.checkout.resolve("tutti"));
		script(this.checkout.resolve("mvnw"), """
				echo "built by $JAVA_HOME"
				echo once >> builds
				sleep 0.3
				mkdir -p target/app
				echo jar > target/tutti.jar
				cp target/tutti.jar target/app
				touch target/app""");
		jdk("new", "25.0.1", "exec printf '%s\\n' \"$@\"");
		jdk("old", "17.0.9", "echo the old one ran");
	}

	@Test
	void theFirstUseBuildsAndSaysSoOnStandardError() throws Exception {
		Started started = start("new", "out", "", "env", "--json", "two words");
		assertThat(started.exitCode()).isZero();
		assertThat(started.out()).containsSubsequence("--enable-native-access=ALL-UNNAMED", "--add-opens",
				"java.base/sun.nio.ch=ALL-UNNAMED", "-jar", this.checkout.resolve("target/app/tutti.jar").toString(),
				"env", "--json", "two words");
		assertThat(started.err()).anyMatch((line) -> line.contains("building"))
			.contains("built by " + this.directory.resolve("new"));
	}

	@Test
	void aRankHasVectorKernels() throws Exception {
		Started started = start("new", "out", "", "bench", "--factor", "2");
		assertThat(started.exitCode()).isZero();
		assertThat(started.out()).containsSubsequence("--add-modules", "jdk.incubator.vector", "-jar", "bench")
			.doesNotContain("-XX:TieredStopAtLevel=1");
	}

	@ParameterizedTest
	@ValueSource(strings = { "env", "launch", "--help", "--version" })
	void whatIsNoRankStartsWithTheFastestFlagsAndKnowsTheScript(String command) throws Exception {
		Started started = start("new", "out", "", command);
		assertThat(started.exitCode()).isZero();
		assertThat(started.out()).contains("-XX:TieredStopAtLevel=1", "-Dtutti.script=" + this.checkout + "/tutti")
			.doesNotContain("jdk.incubator.vector");
	}

	@Test
	void ranksThatComeAtOnceBuildOnce() throws Exception {
		List<Started> ranks = new ArrayList<>();
		for (int rank = 0; rank < 4; rank++) {
			ranks.add(start("new", "rank" + rank, "", "env"));
		}
		for (Started rank : ranks) {
			assertThat(rank.exitCode()).isZero();
			assertThat(rank.out()).endsWith("env");
		}
		assertThat(this.checkout.resolve("builds")).hasContent("once");
	}

	@Test
	void aLayoutOlderThanTheJarIsBuiltAgain() throws Exception {
		assertThat(start("new", "first", "", "env").exitCode()).isZero();
		assertThat(start("new", "second", "", "env").exitCode()).isZero();
		assertThat(this.checkout.resolve("builds")).hasContent("once");
		Path jar = this.checkout.resolve("target/tutti.jar");
		Files.setLastModifiedTime(jar, FileTime.from(Instant.now().plusSeconds(60)));
		assertThat(start("new", "third", "", "env").exitCode()).isZero();
		assertThat(this.checkout.resolve("builds")).hasContent("once\nonce");
	}

	@Test
	void anotherPlatformIsRefusedBeforeAnythingIsBuilt() throws Exception {
		script(Files.createDirectory(this.directory.resolve("bin")).resolve("uname"), "echo Darwin arm64");
		Started started = start("new", "out", "", "env");
		assertThat(started.exitCode()).isEqualTo(64);
		assertThat(started.out()).isEmpty();
		assertThat(started.err()).singleElement()
			.isEqualTo("tutti: this build runs on Linux on x86-64 only (its native libraries are for that),"
					+ " and this is Darwin arm64");
		assertThat(this.checkout.resolve("target")).doesNotExist();
	}

	@Test
	void moreFlagsForTheJvmComeFromTheEnvironment() throws Exception {
		Started started = start("new", "out", "-Xmx1g -Dtutti.rank=1", "env");
		assertThat(started.exitCode()).isZero();
		assertThat(started.out()).containsSubsequence("-Xmx1g", "-Dtutti.rank=1", "-jar");
	}

	@Test
	void aJdkThatIsTooOldIsPassedOver() throws Exception {
		Started started = start("old", "out", "", "env");
		started.exitCode();
		assertThat(started.out()).doesNotContain("the old one ran");
		assertThat(started.err()).isNotEmpty();
	}

	@Test
	void aBuildThatFailsIsAnError() throws Exception {
		script(this.checkout.resolve("mvnw"), "echo no network; exit 1");
		Started started = start("new", "out", "", "env");
		assertThat(started.exitCode()).isEqualTo(70);
		assertThat(started.out()).isEmpty();
		assertThat(started.err()).contains("no network").anyMatch((line) -> line.contains("the build failed"));
	}

	private void jdk(String name, String version, String java) throws IOException {
		Path home = this.directory.resolve(name);
		Files.createDirectories(home.resolve("bin"));
		Files.writeString(home.resolve("release"), "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"" + version + "\"\n");
		script(home.resolve("bin/java"), java);
		script(home.resolve("bin/javac"), "exit 1");
	}

	private static void script(Path file, String text) throws IOException {
		Files.writeString(file, "#!/bin/sh\n" + text + "\n");
		assertThat(file.toFile().setExecutable(true)).isTrue();
	}

	/** Runs the script from a directory that is not the checkout. */
	private Started start(String jdk, String name, String options, String... arguments) throws IOException {
		List<String> command = new ArrayList<>(List.of(this.checkout.resolve("tutti").toString()));
		command.addAll(List.of(arguments));
		ProcessBuilder builder = new ProcessBuilder(command).directory(this.directory.toFile())
			.redirectInput(new File("/dev/null"))
			.redirectOutput(this.directory.resolve(name + ".out").toFile())
			.redirectError(this.directory.resolve(name + ".err").toFile());
		builder.environment().put("JAVA_HOME", this.directory.resolve(jdk).toString());
		builder.environment().put("TUTTI_JAVA_OPTS", options);
		builder.environment().merge("PATH", this.directory.resolve("bin").toString(), (path, own) -> own + ":" + path);
		return new Started(builder.start(), this.directory.resolve(name + ".out"),
				this.directory.resolve(name + ".err"));
	}

	private record Started(Process process, Path outFile, Path errFile) {

		int exitCode() throws InterruptedException {
			assertThat(this.process.waitFor(20, TimeUnit.SECONDS)).as("the script ends").isTrue();
			return this.process.exitValue();
		}

		List<String> out() throws IOException {
			return Files.readAllLines(this.outFile);
		}

		List<String> err() throws IOException {
			return Files.readAllLines(this.errFile);
		}

	}

}
