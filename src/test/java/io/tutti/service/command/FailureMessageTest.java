package io.tutti.service.command;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

import io.tutti.BadConfigurationException;
import io.tutti.CollectiveException;
import io.tutti.Failure;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(20)
class FailureMessageTest {

	private final ByteArrayOutputStream out = new ByteArrayOutputStream();

	private final PrintStream err = new PrintStream(this.out, true, StandardCharsets.UTF_8);

	@Test
	void aLostRankIsNamedInOneLineWithoutAStackTrace() {
		Failure failure = Failure.outside(Failure.Kind.PEER_LOST, Failure.WORLD, List.of(2), "its connection\n closed");
		int code = FailureMessage.tell(new RuntimeException(CollectiveException.of(0, 4, failure, null)), false,
				this.err);
		assertThat(code).isEqualTo(76);
		assertThat(text().lines()).hasSize(1).first().asString().contains("rank 2 lost", "its connection closed");
	}

	@Test
	void anInternalErrorNamesItsRootCauseAndTheDebugOption() {
		int code = FailureMessage.tell(new IllegalStateException("outer", new UnsupportedOperationException("inner")),
				false, this.err);
		assertThat(code).isEqualTo(70);
		assertThat(text()).contains("UnsupportedOperationException: inner", "--debug").doesNotContain("\tat ");
	}

	@Test
	void causesThatFormACycleHaveAnEnd() {
		Exception outer = new IllegalStateException("outer");
		outer.initCause(new IllegalStateException("inner", outer));
		assertThat(FailureMessage.tell(outer, false, this.err)).isEqualTo(70);
		assertThat(text()).contains("internal error: IllegalStateException: ");
	}

	@Test
	void debugPrintsTheStackTrace() {
		FailureMessage.tell(new IllegalStateException("bug"), true, this.err);
		assertThat(text()).contains("\tat ");
	}

	@Test
	void aCommandWithoutTheDebugOptionPrintsTheStackTraceOfAnInternalError() {
		FailureMessage.tell(new IllegalStateException("bug"), this.err);
		assertThat(text()).contains("internal error: IllegalStateException: bug", "\tat ").doesNotContain("--debug");
	}

	@Test
	void aCommandWithoutTheDebugOptionPrintsOneLineOfAnyOtherFailure() {
		FailureMessage.tell(new BadConfigurationException("no such file", new IllegalStateException()), this.err);
		assertThat(text()).hasLineCount(1).contains("no such file");
	}

	private String text() {
		return this.out.toString(StandardCharsets.UTF_8);
	}

}
