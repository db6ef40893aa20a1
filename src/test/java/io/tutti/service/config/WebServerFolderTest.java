package io.tutti.service.config;

import java.nio.file.Files;
import java.nio.file.Path;

import io.tutti.BadConfigurationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(20)
class WebServerFolderTest {

	/** Larger than any process id of the kernel. */
	private static final String DEAD = "tutti-http-999999999-";

	@TempDir
	Path parent;

	@Test
	void onlyEmptyFoldersOfDeadProcessesAreRemoved() throws Exception {
		Files.createDirectories(this.parent.resolve(DEAD + "1/work/Tomcat/localhost/ROOT"));
		Path full = Files.createDirectories(this.parent.resolve(DEAD + "2"));
		Files.writeString(full.resolve("kept"), "somebody's");
		Path alive = Files
			.createDirectories(this.parent.resolve("tutti-http-" + ProcessHandle.current().pid() + "-other"));
		Path other = Files.createDirectories(this.parent.resolve("tomcat.8080.1"));
		new WebServerFolder(this.parent, false).customize(new TomcatServletWebServerFactory());
		assertThat(this.parent.resolve(DEAD + "1")).doesNotExist();
		assertThat(full.resolve("kept")).exists();
		assertThat(alive).exists();
		assertThat(other).exists();
	}

	@Test
	void foldersAreRemovedWithTheService() throws Exception {
		WebServerFolder folder = new WebServerFolder(this.parent, false);
		TomcatServletWebServerFactory factory = new TomcatServletWebServerFactory();
		folder.customize(factory);
		assertThat(this.parent).isNotEmptyDirectory();
		folder.destroy();
		assertThat(this.parent).isEmptyDirectory();
	}

	@Test
	void aTemporaryFolderThatCannotBeWrittenIsNamedWithTheRemedy() {
		Path missing = this.parent.resolve("missing");
		assertThatExceptionOfType(BadConfigurationException.class)
			.isThrownBy(() -> new WebServerFolder(missing, false).customize(new TomcatServletWebServerFactory()))
			.withMessageStartingWith(
					"no temporary folder for HTTP can be created in " + missing + ": it does not exist. ")
			.withMessageContaining("-Djava.io.tmpdir=DIR in TUTTI_JAVA_OPTS");
	}

	@Test
	void aConfiguredFolderIsUsed() {
		new WebServerFolder(this.parent, true).customize(new TomcatServletWebServerFactory());
		assertThat(this.parent).isEmptyDirectory();
	}

}
