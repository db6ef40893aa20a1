package io.tutti.engine;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.security.GeneralSecurityException;
import java.util.Locale;
import java.util.Objects;

/**
 * The reason of a failed access to a file, a key store or a host, for a message. The
 * messages of some exceptions are only the name of a file, or empty.
 */
public final class FailureReason {

	private FailureReason() {
	}

	/**
	 * Describes a failure.
	 * @param failure the failure
	 * @return its reason in words; of a failure of the program, its class too
	 */
	public static String of(Throwable failure) {
		return switch (failure) {
			case NoSuchFileException ex -> "there is no " + ex.getFile();
			case AccessDeniedException ex -> "permission denied for " + ex.getFile();
			case FileSystemException ex when ex.getReason() == null -> kind(ex) + " " + ex.getFile();
			case IOException _, GeneralSecurityException _ ->
				Objects.requireNonNullElse(failure.getMessage(), failure.getClass().getSimpleName());
			default -> failure.toString();
		};
	}

	/** Such as {@code directory not empty}. */
	private static String kind(FileSystemException failure) {
		return failure.getClass()
			.getSimpleName()
			.replaceFirst("Exception$", "")
			.replaceAll("(?<=[a-z])(?=[A-Z])", " ")
			.toLowerCase(Locale.ROOT);
	}

}
