package io.tutti.service.config;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;

import io.tutti.launch.JobToken;
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
	 * @throws io.tutti.BadConfigurationException if both are set, or if it is blank, too
	 * long, not of printable ASCII or cannot be read
	 */
	static SharedToken of(SecurityProperties properties) {
		return new SharedToken(JobToken.read(properties.token(), properties.tokenFile()));
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

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	@Override
	public String toString() {
		return "SharedToken[" + (isSet() ? "hidden" : "none") + "]";
	}

}
