package io.tutti.engine.transport.shm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * File name of a shared segment. Identifies the owner, so that stale segments of dead
 * processes can be distinguished from segments in use.
 *
 * @param user numeric id of the owner's user
 * @param job the job, hashed, 16 hexadecimal digits
 * @param owner the process that created the segment
 * @param serial distinguishes the owner's segments
 */
record SegmentName(long user, String job, ProcessIdentity owner, long serial) {

	private static final Pattern PATTERN = Pattern
		.compile("tutti-(\\d{1,10})-([0-9a-f]{16})-(\\d{1,18})-(\\d{1,18})-(\\d{1,18})-([0-9a-f]{16})");

	/** Parses a file name; {@code null} if it is not a segment name. */
	static @Nullable SegmentName parse(String text) {
		Matcher matcher = PATTERN.matcher(text);
		if (!matcher.matches()) {
			return null;
		}
		ProcessIdentity owner = new ProcessIdentity(Long.parseLong(matcher.group(3)), Long.parseLong(matcher.group(4)),
				Long.parseLong(matcher.group(5)));
		return new SegmentName(Long.parseLong(matcher.group(1)), matcher.group(2), owner,
				HexFormat.fromHexDigitsToLong(matcher.group(6)));
	}

	/** The numeric id of this process's user, at most 2^32 - 2. */
	static long currentUser() throws IOException {
		return Integer.toUnsignedLong((int) Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
	}

	@Override
	public String toString() {
		return "tutti-" + this.user + "-" + this.job + "-" + this.owner.pid() + "-" + this.owner.startTicks() + "-"
				+ this.owner.namespace() + "-" + HexFormat.of().toHexDigits(this.serial);
	}

}
