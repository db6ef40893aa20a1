package io.tutti.engine.backend.nccl;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import io.tutti.engine.backend.nccl.NcclAvailability.State;
import org.jspecify.annotations.Nullable;

/**
 * Checks whether NCCL can be used, without loading the preset. Without a driver, loading
 * the preset fails permanently; without a required function, the process ends. Probed
 * libraries stay loaded, since a driver cannot be unloaded safely and since the preset
 * then finds a library that was given by path. A library is a path or a name for the
 * dynamic linker.
 *
 * @param presetPresent whether the JavaCPP preset is on the class path
 * @param driver CUDA driver
 * @param runtimes CUDA runtimes; the first that can be loaded is used
 * @param nccl NCCL
 */
record NcclProbe(boolean presetPresent, String driver, List<String> runtimes, String nccl) {

	private static final String PRESET = "org/bytedeco/cuda/global/nccl.class";

	/** Without these functions calls cannot have a deadline. */
	private static final List<NcclFunction> NEEDED = List.of(NcclFunction.INIT_RANK_CONFIG, NcclFunction.FINALIZE);

	private static final int SUCCESS = 0;

	/**
	 * A probe of the libraries that the properties {@code tutti.gpu.driver},
	 * {@code tutti.gpu.cudart} and {@code tutti.gpu.nccl} name, or the variables
	 * {@code TUTTI_GPU_DRIVER} and so on, or of the default ones.
	 */
	static NcclProbe ofProcess() {
		return of(System::getProperty, System.getenv());
	}

	/** As {@link #ofProcess()}, with these system properties and variables. */
	static NcclProbe of(UnaryOperator<@Nullable String> properties, Map<String, String> environment) {
		return new NcclProbe(NcclProbe.class.getClassLoader().getResource(PRESET) != null,
				named("tutti.gpu.driver", properties, environment, "libcuda.so.1").getFirst(),
				named("tutti.gpu.cudart", properties, environment, "libcudart.so.13", "libcudart.so.12"),
				named("tutti.gpu.nccl", properties, environment, "libnccl.so.2").getFirst());
	}

	private static List<String> named(String property, UnaryOperator<@Nullable String> properties,
			Map<String, String> environment, String... defaults) {
		String variable = property.toUpperCase(Locale.ROOT).replace('.', '_');
		String file = Objects.requireNonNullElse(properties.apply(property), environment.getOrDefault(variable, ""));
		return file.isBlank() ? List.of(defaults) : List.of(file);
	}

	/** Probes; reports problems in the result and never throws for them. */
	NcclAvailability probe() {
		int devices = 0;
		int version = 0;
		Set<NcclFunction> functions = EnumSet.noneOf(NcclFunction.class);
		try {
			require(this.presetPresent, State.PRESET_MISSING, "org.bytedeco:cuda is not on the class path");
			devices = devices(open(this.driver, State.DRIVER_MISSING));
			require(devices > 0, State.NO_DEVICE, "the driver reports no GPU");
			openAny(this.runtimes, State.RUNTIME_MISSING);
			SymbolLookup library = open(this.nccl, State.LIBRARY_MISSING);
			version = query(library, "ncclGetVersion", State.LIBRARY_MISSING, this.nccl);
			Stream.of(NcclFunction.values())
				.filter((function) -> library.find(function.symbol()).isPresent())
				.forEach(functions::add);
			String name = "NCCL " + NcclAvailability.versionText(version);
			for (NcclFunction needed : NEEDED) {
				require(functions.contains(needed), State.TOO_OLD,
						name + " lacks " + needed.symbol() + ", which NCCL has since " + needed.since());
			}
			return new NcclAvailability(State.AVAILABLE,
					name + ", " + devices + ((devices == 1) ? " device" : " devices"), devices, version, functions);
		}
		catch (UnusableException ex) {
			return new NcclAvailability(ex.state, String.valueOf(ex.getMessage()), devices, version, functions);
		}
	}

	private static void require(boolean condition, State otherwise, String detail) {
		if (!condition) {
			throw new UnusableException(otherwise, detail);
		}
	}

	private int devices(SymbolLookup driverLibrary) {
		int initialized = call(function(driverLibrary, "cuInit", State.DRIVER_MISSING, this.driver),
				ValueLayout.JAVA_INT, 0);
		require(initialized == SUCCESS, State.NO_DEVICE, "cuInit returned " + initialized);
		return query(driverLibrary, "cuDeviceGetCount", State.DRIVER_MISSING, this.driver);
	}

	/** The value that a function of the form {@code int f(int* result)} writes. */
	private static int query(SymbolLookup library, String name, State lacking, String file) {
		try (Arena arena = Arena.ofConfined()) {
			MemorySegment result = arena.allocate(ValueLayout.JAVA_INT);
			int code = call(function(library, name, lacking, file), ValueLayout.ADDRESS, result);
			require(code == SUCCESS, lacking, name + " of " + file + " returned " + code);
			return result.get(ValueLayout.JAVA_INT, 0);
		}
	}

	/** Calls a function of one argument that returns a result code. */
	@SuppressWarnings("restricted") // calls into the library by its documented signature
	private static int call(MemorySegment function, ValueLayout layout, Object argument) {
		MethodHandle handle = Linker.nativeLinker()
			.downcallHandle(function, FunctionDescriptor.of(ValueLayout.JAVA_INT, layout));
		try {
			return (int) handle.invoke(argument);
		}
		catch (Throwable ex) {
			throw new IllegalStateException("a native call threw", ex);
		}
	}

	private static MemorySegment function(SymbolLookup library, String name, State lacking, String file) {
		return library.find(name).orElseThrow(() -> new UnusableException(lacking, file + " has no " + name));
	}

	private static SymbolLookup open(String library, State lacking) {
		return openAny(List.of(library), lacking);
	}

	@SuppressWarnings("restricted") // loads a library that the operator installed
	private static SymbolLookup openAny(List<String> libraries, State lacking) {
		for (String library : libraries) {
			try {
				return SymbolLookup.libraryLookup(library, Arena.global());
			}
			catch (IllegalArgumentException ex) {
				continue;
			}
		}
		throw new UnusableException(lacking, String.join(" or ", libraries) + " cannot be loaded");
	}

	/** NCCL cannot be used in this process. */
	private static final class UnusableException extends RuntimeException {

		private static final long serialVersionUID = 1L;

		private final State state;

		UnusableException(State state, String detail) {
			super(detail, null, false, false);
			this.state = state;
		}

	}

}
