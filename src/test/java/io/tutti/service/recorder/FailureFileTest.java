package io.tutti.service.recorder;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import io.tutti.Failure;
import io.tutti.service.config.FlightRecorderProperties;
import io.tutti.service.config.RendezvousProperties;
import io.tutti.service.group.FakeGenerations;
import io.tutti.service.group.FakeGroup;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
class FailureFileTest {

	@TempDir
	private Path folder;

	/** In an earlier generation, another process of this host may have had the rank. */
	@Test
	void theFileIsNamedByTheLaunchersRankAndHasThatOfTheGeneration() throws IOException {
		FakeGenerations generations = new FakeGenerations(2, 3);
		FailureFile file = new FailureFile(generations.lifecycle(),
				new FlightRecorderProperties(true, this.folder, 4, false), new RendezvousProperties("a", null, null));
		generations.form(new FakeGroup(1, 2, 4), List.of(0, 2));
		generations.lose(List.of(0), Failure.outside(Failure.Kind.PEER_LOST, Failure.WORLD, List.of(0), "cut"));
		file.destroy();
		try (Stream<Path> files = Files.list(this.folder)) {
			assertThat(files).singleElement().satisfies((each) -> {
				assertThat(each.getFileName().toString()).startsWith("tutti-flight-recorder-a-r2-");
				assertThat(each).content().startsWith("{\"rank\":1,\"worldSize\":2,\"generation\":4,");
			});
		}
	}

}
