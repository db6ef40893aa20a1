package io.tutti.engine;

import java.io.IOException;
import java.net.ConnectException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(10)
class FailureReasonTest {

	@Test
	void aFailedAccessIsDescribedWithoutItsClass() {
		assertThat(FailureReason.of(new IOException("No space left on device"))).isEqualTo("No space left on device");
		assertThat(FailureReason.of(new FileSystemException("a", null, "Read-only file system")))
			.isEqualTo("a: Read-only file system");
		assertThat(FailureReason.of(new NoSuchFileException("a"))).isEqualTo("there is no a");
		assertThat(FailureReason.of(new AccessDeniedException("a"))).isEqualTo("permission denied for a");
	}

	@Test
	void aFailureWithoutAReasonIsDescribedByItsKind() {
		assertThat(FailureReason.of(new DirectoryNotEmptyException("a"))).isEqualTo("directory not empty a");
		assertThat(FailureReason.of(new ConnectException())).isEqualTo("ConnectException");
	}

	@Test
	void aFailureOfTheProgramKeepsItsClass() {
		assertThat(FailureReason.of(new IllegalStateException("odd")))
			.isEqualTo("java.lang.IllegalStateException: odd");
	}

}
