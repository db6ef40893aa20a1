package io.tutti.engine.device;

import java.util.Map;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;

/**
 * Whether collectives on device memory may go through host memory where the backend does
 * not support device memory. Off by default, because the fallback is much slower.
 *
 * @param allowed whether the fallback may be used
 */
public record HostFallback(boolean allowed) {

	/** System property that allows the fallback. */
	public static final String PROPERTY = "tutti.gpu.host-fallback";

	/** Environment variable that allows the fallback. */
	public static final String VARIABLE = "TUTTI_ENABLE_GPU_FALLBACK";

	/**
	 * Reads the system property and the environment of this process.
	 * @return the setting
	 */
	public static HostFallback ofProcess() {
		return of(System::getProperty, System.getenv());
	}

	/**
	 * Reads the property, or the variable if the property is not set.
	 * @param properties value of a property, {@code null} if it is not set
	 * @param variables environment variables
	 * @return the setting; the fallback is off if neither is set
	 * @throws IllegalArgumentException if the value is not true, false, 1, 0 or empty
	 */
	public static HostFallback of(UnaryOperator<@Nullable String> properties, Map<String, String> variables) {
		String property = properties.apply(PROPERTY);
		if (property != null) {
			return new HostFallback(parse(PROPERTY, property));
		}
		String variable = variables.get(VARIABLE);
		return new HostFallback(variable != null && parse(VARIABLE, variable));
	}

	private static boolean parse(String name, String value) {
		return switch (value.strip()) {
			case "true", "1" -> true;
			case "false", "0", "" -> false;
			default -> throw new IllegalArgumentException(name + " must be true, false, 1 or 0, got " + value);
		};
	}

}
