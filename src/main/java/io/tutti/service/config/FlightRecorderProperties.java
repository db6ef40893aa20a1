package io.tutti.service.config;

import java.nio.file.Path;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Options of the flight recorder. Recording itself is always on.
 *
 * @param onFailure whether each rank writes a file when the group breaks
 * @param folder folder of these files; by default the system's folder for temporary files
 * @param keep number of files that each rank keeps; older ones are deleted
 * @param sites whether each call records the calling line of the application, which costs
 * some microseconds
 */
@ConfigurationProperties("tutti.flight-recorder")
public record FlightRecorderProperties(@DefaultValue("true") boolean onFailure, @Nullable Path folder,
		@DefaultValue("4") int keep, @DefaultValue("false") boolean sites) {

	private static final int MOST_KEPT = 1000;

	public FlightRecorderProperties {
		if (keep < 1 || keep > MOST_KEPT) {
			throw new IllegalArgumentException("keep must be in 1.." + MOST_KEPT + ", got " + keep);
		}
	}

	/** The folder for failure files. */
	public Path place() {
		return (this.folder != null) ? this.folder : Path.of(System.getProperty("java.io.tmpdir"));
	}

}
