package io.tutti.service.config;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;

import io.tutti.engine.RegularFile;
import org.jspecify.annotations.Nullable;

/**
 * The job's shared secret, if it has one. Redacted in {@link #toString()}.
 */
public final class SharedToken {

	private final @Nullable String secret;

	private SharedToken(@Nullable String secret) {
		this.secret = secret;
	}

	/**
	 * Reads the token from the properties.
	 * @throws ConfigurationException if it is blank, too long or cannot be read
	 */
	static SharedToken of(SecurityProperties properties) {
		Path file = properties.tokenFile();
		if (file != null) {
			return new SharedToken(checked(read(file), "file " + file + " (tutti.security.token-file)"));
		}
		String token = properties.token();
		return new SharedToken((token != null) ? checked(token, "tutti.security.token") : null);
	}

	/** Whether a token is set. */
	public boolean isSet() {
		return this.secret != null;
	}

	/** Whether a candidate equals the token, compared in constant time. */
	public boolean matches(String candidate) {
		return this.secret != null && MessageDigest.isEqual(bytes(this.secret), bytes(candidate));
	}

	/** The token itself, for the handshake. */
	@Nullable String secret() {
		return this.secret;
	}

	private static String read(Path file) {
		try {
			return RegularFile.read(file, RegularFile.MAX_TOKEN_BYTES);
		}
		catch (IOException ex) {
			throw new ConfigurationException("token file " + file + " cannot be read: " + ex.getMessage(),
					"Check tutti.security.token-file and the file's permissions", ex);
		}
	}

	private static String checked(String token, String from) {
		String stripped = token.strip();
		if (stripped.isEmpty()) {
			throw new ConfigurationException(from + " contains no token", "Put a secret there, or unset the property");
		}
		if (bytes(stripped).length > RegularFile.MAX_TOKEN_BYTES) {
			throw new ConfigurationException(from + " is longer than " + RegularFile.MAX_TOKEN_BYTES + " bytes",
					"Use a shorter secret");
		}
		return stripped;
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	@Override
	public String toString() {
		return "SharedToken[" + (isSet() ? "hidden" : "none") + "]";
	}

}
