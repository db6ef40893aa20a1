package io.tutti.service.config;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.util.StringUtils;

/**
 * Options of the profile {@code mpi}.
 *
 * @param library the MPI library to use: {@code openmpi}, {@code mpich} or a path; by
 * default none: Tutti's own engine runs the collectives
 */
@ConfigurationProperties("tutti.mpi")
public record MpiProperties(@Nullable String library) {

	public MpiProperties {
		library = StringUtils.hasText(library) ? library : null;
	}

}
