package io.tutti.engine.backend;

import java.io.IOException;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The address that rank 0 announces when the ranks run on an MPI library.
 */
class LibMpiBootstrapTest {

	@ParameterizedTest
	@ValueSource(strings = { "0.0.0.0", "::" })
	void aWildcardIsNotAnnounced(String wildcard) throws IOException {
		assertThat(LibMpiBootstrap.announced(wildcard, true)).isEqualTo("127.0.0.1");
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void anAddressIsAnnounced(boolean oneHost) throws IOException {
		assertThat(LibMpiBootstrap.announced("192.0.2.7", oneHost)).isEqualTo("192.0.2.7");
	}

}
