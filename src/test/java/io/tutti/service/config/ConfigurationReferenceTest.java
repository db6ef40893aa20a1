package io.tutti.service.config;

import java.io.IOException;
import java.nio.file.Files;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(20)
class ConfigurationReferenceTest {

	@Test
	void thePageMatchesTheRecords() throws IOException {
		String page = ConfigurationReference.page();
		assertThat(page).contains("| `tutti.http.port` | integer | `8080` |");
		assertThat(Files.readString(ConfigurationReference.PAGE))
			.as("%s is stale: after test-compile, run the main method of %s to write it anew",
					ConfigurationReference.PAGE, ConfigurationReference.class.getName())
			.isEqualTo(page);
	}

}
