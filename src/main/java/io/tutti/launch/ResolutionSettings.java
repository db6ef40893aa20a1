package io.tutti.launch;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

/**
 * Properties of rank resolution.
 *
 * @param variables {@code tutti.rank}, {@code tutti.world-size}, which is also the world
 * size of a pod that has only an index, {@code tutti.master-address} and
 * {@code tutti.master-port}, which override every launcher's own: those that are set, as
 * text, so that they are parsed like variables
 * @param portOffset {@code tutti.rendezvous.port-offset}: distance of the rendezvous port
 * from {@code MASTER_PORT} where torchrun's agent uses that port
 * @param onConflict {@code tutti.launcher.on-conflict}
 */
public record ResolutionSettings(Map<String, String> variables, int portOffset, OnConflict onConflict) {

	static final String RANK = "tutti.rank";

	static final String WORLD_SIZE = "tutti.world-size";

	static final String MASTER_ADDRESS = "tutti.master-address";

	static final String MASTER_PORT = "tutti.master-port";

	static final String PORT_OFFSET = "tutti.rendezvous.port-offset";

	static final String ON_CONFLICT = "tutti.launcher.on-conflict";

	private static final int DEFAULT_PORT_OFFSET = 1;

	/** No property set. */
	public static final ResolutionSettings DEFAULTS = new ResolutionSettings(Map.of(), DEFAULT_PORT_OFFSET,
			OnConflict.WARN);

	public ResolutionSettings {
		variables = Map.copyOf(variables);
	}

	/**
	 * Settings from a source of properties, such as a Spring environment's
	 * {@code getProperty}.
	 * @param properties returns the value of a property or {@code null}
	 * @throws ResolutionException if the value of a property is invalid
	 */
	public static ResolutionSettings from(Function<String, @Nullable String> properties) {
		Integer offset = number(properties, PORT_OFFSET, 0, WholeNumber.MAX_PORT);
		Map<String, String> variables = new HashMap<>();
		putIfSet(variables, RANK, number(properties, RANK, 0, WholeNumber.MAX_WORLD_SIZE - 1));
		putIfSet(variables, WORLD_SIZE, number(properties, WORLD_SIZE, 1, WholeNumber.MAX_WORLD_SIZE));
		putIfSet(variables, MASTER_ADDRESS, properties.apply(MASTER_ADDRESS));
		putIfSet(variables, MASTER_PORT, number(properties, MASTER_PORT, 1, WholeNumber.MAX_PORT));
		return new ResolutionSettings(variables, (offset != null) ? offset : DEFAULT_PORT_OFFSET,
				onConflict(properties.apply(ON_CONFLICT)));
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
