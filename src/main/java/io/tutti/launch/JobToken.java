package io.tutti.launch;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

import io.tutti.BadConfigurationException;
import io.tutti.engine.RegularFile;
import org.jspecify.annotations.Nullable;

/**
 * Reads the shared secret of a job from the property that contains it, or from the file
 * that another property names.
 */
public final class JobToken {

	private static final String TOKEN = "tutti.security.token";

	private static final String TOKEN_FILE = "tutti.security.token-file";

	private JobToken() {
	}

	/**
	 * The token of these properties, {@code null} if there is none.
	 * @throws BadConfigurationException if both properties are set, or if the token is
	 * blank, too long, not of printable ASCII or cannot be read
	 */
	public static @Nullable String of(ProcessProperties properties) {
		String file = properties.text(TOKEN_FILE);
		return read(properties.text(TOKEN), (file != null) ? Path.of(file) : null);
	}

	/**
	 * The token of {@code tutti.security.token} and {@code tutti.security.token-file}.
	 * @throws BadConfigurationException as above
	 */
	public static @Nullable String read(@Nullable String token, @Nullable Path file) {
		if (file == null) {
			return (token != null) ? checked(token, TOKEN) : null;
		}
		if (token != null) {
			throw new BadConfigurationException(TOKEN + " and " + TOKEN_FILE + " are both set", "Set only one of them");
		}
		return checked(read(file), "file " + file + " (" + TOKEN_FILE + ")");
	}

	private static String read(Path file) {
		try {
			return RegularFile.read(file, RegularFile.MAX_TOKEN_BYTES);
		}
		catch (IOException ex) {
			throw new BadConfigurationException("token file " + file + " cannot be read: " + ex.getMessage(),
					"Check " + TOKEN_FILE + " and the file's permissions", ex);
		}
	}

	private static String checked(String token, String from) {
		String stripped = token.strip();
		if (stripped.isEmpty()) {
			throw new BadConfigurationException(from + " contains no token",
					"Put a secret there, or unset the property");
		}
		if (stripped.getBytes(StandardCharsets.UTF_8).length > RegularFile.MAX_TOKEN_BYTES) {
			throw new BadConfigurationException(from + " is longer than " + RegularFile.MAX_TOKEN_BYTES + " bytes",
					"Use a shorter secret");
		}
		if (!stripped.chars().allMatch(JobToken::isPrintable)) {
			throw new BadConfigurationException(from + " has a character other than printable ASCII",
					"Use a secret of ASCII letters, digits, punctuation and blanks, which HTTP requests can carry");
		}
		return stripped;
	}

	private static boolean isPrintable(int character) {
		return character >= ' ' && character <= '~';
	}

}
