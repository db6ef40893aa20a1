package io.tutti.launch;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

/**
 * Properties of rank resolution; {@code null} for those that are not set.
 *
 * @param rank {@code tutti.rank}
 * @param worldSize {@code tutti.world-size}; also the world size of a pod that has only
 * an index
 * @param masterAddress {@code tutti.master-address}; overrides every launcher's own
 * @param masterPort {@code tutti.master-port}; overrides every launcher's own
 * @param portOffset {@code tutti.rendezvous.port-offset}: distance of the rendezvous port
 * from {@code MASTER_PORT} where torchrun's agent uses that port
 * @param onConflict {@code tutti.launcher.on-conflict}
 */
public record ResolutionSettings(@Nullable Integer rank, @Nullable Integer worldSize, @Nullable String masterAddress,
		@Nullable Integer masterPort, int portOffset, OnConflict onConflict) {

	static final String RANK = "tutti.rank";

	static final String WORLD_SIZE = "tutti.world-size";

	static final String MASTER_ADDRESS = "tutti.master-address";

	static final String MASTER_PORT = "tutti.master-port";

	static final String PORT_OFFSET = "tutti.rendezvous.port-offset";

	static final String ON_CONFLICT = "tutti.launcher.on-conflict";

	private static final int DEFAULT_PORT_OFFSET = 1;

	/** No property set. */
	public static final ResolutionSettings DEFAULTS = new ResolutionSettings(null, null, null, null,
			DEFAULT_PORT_OFFSET, OnConflict.WARN);

	/**
	 * Settings from a source of properties, such as a Spring environment's
	 * {@code getProperty}.
	 * @param properties returns the value of a property or {@code null}
	 * @throws ResolutionException if the value of a property is invalid
	 */
	public static ResolutionSettings from(Function<String, @Nullable String> properties) {
		Integer offset = number(properties, PORT_OFFSET, 0, WholeNumber.MAX_PORT);
		return new ResolutionSettings(number(properties, RANK, 0, WholeNumber.MAX_WORLD_SIZE - 1),
				number(properties, WORLD_SIZE, 1, WholeNumber.MAX_WORLD_SIZE), properties.apply(MASTER_ADDRESS),
				number(properties, MASTER_PORT, 1, WholeNumber.MAX_PORT),
				(offset != null) ? offset : DEFAULT_PORT_OFFSET, onConflict(properties.apply(ON_CONFLICT)));
	}

	/** The properties that are set, as text, so that they are parsed like variables. */
	Map<String, String> asVariables() {
		Map<String, String> variables = new LinkedHashMap<>();
		putIfSet(variables, RANK, this.rank);
		putIfSet(variables, WORLD_SIZE, this.worldSize);
		putIfSet(variables, MASTER_ADDRESS, this.masterAddress);
		putIfSet(variables, MASTER_PORT, this.masterPort);
		return variables;
	}

	private static void putIfSet(Map<String, String> variables, String name, @Nullable Object value) {
		if (value != null) {
			variables.put(name, value.toString());
		}
	}

	private static @Nullable Integer number(Function<String, @Nullable String> properties, String name, int least,
			int most) {
		String text = properties.apply(name);
		return (text != null) ? WholeNumber.parse(name, text, least, most, "") : null;
	}

	private static OnConflict onConflict(@Nullable String text) {
		if (text == null) {
			return OnConflict.WARN;
		}
		return switch (text.toLowerCase(Locale.ROOT)) {
			case "warn" -> OnConflict.WARN;
			case "fail" -> OnConflict.FAIL;
			default -> throw new ResolutionException(ON_CONFLICT, text, "warn or fail");
		};
	}

}
