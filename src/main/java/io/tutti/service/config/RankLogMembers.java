package io.tutti.service.config;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

import org.springframework.boot.json.JsonWriter;
import org.springframework.boot.logging.structured.StructuredLoggingJsonMembersCustomizer;
import org.springframework.core.env.Environment;

/**
 * Adds this rank's identity and position to every structured log line, on every thread:
 * the launcher's rank and world size on each; generation, group, rank and size in the
 * group and sequence while it has one.
 */
public final class RankLogMembers implements StructuredLoggingJsonMembersCustomizer<ILoggingEvent> {

	private static final String PLACE = "tutti.place";

	private final @Nullable Integer rank;

	private final @Nullable Integer worldSize;

	RankLogMembers(Environment environment) {
		this.rank = number(environment, LoggedRank.RANK);
		this.worldSize = number(environment, LoggedRank.WORLD_SIZE);
	}

	/** {@code null} for the question mark that stands for an unresolved rank. */
	private static @Nullable Integer number(Environment environment, String name) {
		String value = environment.getProperty(name, "");
		return value.matches("\\d+") ? Integer.valueOf(value) : null;
	}

	/** Adds names and values to further lines; the supplier runs once for each line. */
	public static void place(Supplier<Map<String, Object>> place) {
		context().putObject(PLACE, place);
	}

	private static LoggerContext context() {
		return (LoggerContext) LoggerFactory.getILoggerFactory();
	}

	@Override
	public void customize(JsonWriter.Members<ILoggingEvent> members) {
		members.add("tutti", (event) -> where());
	}

	private Map<String, Object> where() {
		Map<String, Object> where = new LinkedHashMap<>();
		if (this.rank != null && this.worldSize != null) {
			where.put("rank", this.rank);
			where.put("worldSize", this.worldSize);
		}
		if (context().getObject(PLACE) instanceof Supplier<?> place && place.get() instanceof Map<?, ?> more) {
			more.forEach((name, value) -> where.put(String.valueOf(name), value));
		}
		return where;
	}

}
