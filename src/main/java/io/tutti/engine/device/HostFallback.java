package io.tutti.engine.device;

import java.util.Map;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;

/**
 * Whether collectives on device memory may go through host memory where no backend
 * reaches the devices. Off unless somebody asks for it: it is slower by far, and nobody
 * should find out from a bill.
 *
 * @param allowed whether they may
 */
public record HostFallback(boolean allowed) {

	/** The property that allows it. */
	public static final String PROPERTY = "tutti.gpu.host-fallback";

	/** The variable that allows it. */
	public static final String VARIABLE = "TUTTI_ENABLE_GPU_FALLBACK";

	/** What the process was started with. */
	public static HostFallback ofProcess() {
		return of(System::getProperty, System.getenv());
	}

	/**
	 * What a property, or else a variable, says.
	 * @throws IllegalArgumentException if it is neither true nor false
	 */
	public static HostFallback of(UnaryOperator<@Nullable String> properties, Map<String, String> variables) {
		String property = properties.apply(PROPERTY);
		if (property != null) {
			return new HostFallback(truth(PROPERTY, property));
		}
		String variable = variables.get(VARIABLE);
		return new HostFallback(variable != null && truth(VARIABLE, variable));
	}

	private static boolean truth(String name, String value) {
		return switch (value.strip()) {
			case "true", "1" -> true;
			case "false", "0", "" -> false;
			default -> throw new IllegalArgumentException(name + " must be true, false, 1 or 0, got " + value);
		};
	}

}
