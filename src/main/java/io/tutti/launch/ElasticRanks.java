package io.tutti.launch;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Bounds of a job that continues without lost ranks.
 *
 * @param least the job ends with fewer ranks than this
 * @param most the job accepts no more ranks than this
 * @param endpoints {@code host:port} of every slot, {@code most} of them; empty to
 * reserve ports of this machine
 */
public record ElasticRanks(int least, int most, List<String> endpoints) {

	static final String LEAST = "TUTTI_ELASTIC_MIN_RANKS";

	static final String MOST = "TUTTI_ELASTIC_MAX_RANKS";

	static final String ENDPOINTS = "TUTTI_ELASTIC_ENDPOINTS";

	public ElasticRanks {
		endpoints = List.copyOf(endpoints);
		if (least < 1 || least > most) {
			throw new IllegalArgumentException("--min-ranks must be in 1.." + most + " (--max-ranks), got " + least);
		}
		if (!endpoints.isEmpty() && endpoints.size() != most) {
			throw new IllegalArgumentException("tutti.elastic.endpoints must name one host:port for each of the " + most
					+ " ranks that the job may have, got " + endpoints.size());
		}
	}

	/**
	 * The bounds that a user gave by options, or else by properties.
	 * @param minRanks {@code --min-ranks}, {@code null} for
	 * {@code tutti.elastic.min-ranks}
	 * @param maxRanks {@code --max-ranks}, {@code null} for
	 * {@code tutti.elastic.max-ranks}, by default the number of endpoints or, without
	 * any, the initial world size
	 * @param worldSize the initial world size
	 * @param properties the ranks' properties, among them {@code tutti.elastic.endpoints}
	 * @return the bounds, {@code null} for a job that ends when a rank is lost
	 */
	public static @Nullable ElasticRanks of(@Nullable Integer minRanks, @Nullable Integer maxRanks, int worldSize,
			ProcessProperties properties) {
		Integer least = (minRanks != null) ? minRanks
				: properties.number("tutti.elastic.min-ranks", "a number of ranks");
		Integer most = (maxRanks != null) ? maxRanks
				: properties.number("tutti.elastic.max-ranks", "a number of ranks");
		if (least == null) {
			if (most != null) {
				throw new IllegalArgumentException("--max-ranks " + most + " needs --min-ranks");
			}
			return null;
		}
		List<String> endpoints = endpoints(properties);
		int all = Collections.max(List.of(endpoints.size(), worldSize, least));
		return new ElasticRanks(least, (most != null) ? most : all, endpoints);
	}

	private static List<String> endpoints(ProcessProperties properties) {
		return Arrays.stream(properties.text("tutti.elastic.endpoints", "").split(","))
			.map(String::strip)
			.filter((endpoint) -> !endpoint.isEmpty())
			.toList();
	}

}
