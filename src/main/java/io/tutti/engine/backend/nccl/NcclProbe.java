package io.tutti.engine.backend.nccl;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.UnaryOperator;

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
		if (!this.presetPresent) {
			return missing(State.PRESET_MISSING, "org.bytedeco:cuda is not on the class path", 0);
		}
		SymbolLookup driverLibrary = open(this.driver);
		if (driverLibrary == null) {
			return missing(State.DRIVER_MISSING, this.driver + " cannot be loaded", 0);
		}
		try {
			return withDriver(driverLibrary);
		}
		catch (UnusableLibraryException ex) {
			return missing(ex.state, String.valueOf(ex.getMessage()), 0);
		}
	}

	private static NcclAvailability missing(State state, String detail, int devices) {
		return new NcclAvailability(state, detail, devices, 0, Set.of());
	}

	private NcclAvailability withDriver(SymbolLookup driverLibrary) {
		int devices = devices(driverLibrary);
		if (devices < 1) {
			return missing(State.NO_DEVICE, "the driver reports no GPU", 0);
		}
		if (this.runtimes.stream().allMatch((runtime) -> open(runtime) == null)) {
			return missing(State.RUNTIME_MISSING, String.join(" or ", this.runtimes) + " cannot be loaded", devices);
		}
		SymbolLookup library = open(this.nccl);
		if (library == null) {
			return missing(State.LIBRARY_MISSING, this.nccl + " cannot be loaded", devices);
		}
		return withNccl(devices, library);
	}

	private NcclAvailability withNccl(int devices, SymbolLookup library) {
		int version = query(library, "ncclGetVersion", State.LIBRARY_MISSING, this.nccl);
		Set<NcclFunction> functions = EnumSet.noneOf(NcclFunction.class);
		for (NcclFunction function : NcclFunction.values()) {
			if (library.find(function.symbol()).isPresent()) {
				functions.add(function);
			}
		}
		String name = "NCCL " + NcclAvailability.versionText(version);
		for (NcclFunction needed : NEEDED) {
			if (!functions.contains(needed)) {
				return new NcclAvailability(State.TOO_OLD,
						name + " lacks " + needed.symbol() + ", which NCCL has since " + needed.since(), devices,
						version, functions);
			}
		}
		return new NcclAvailability(State.AVAILABLE, name + ", " + devices + ((devices == 1) ? " device" : " devices"),
				devices, version, functions);
	}

	private int devices(SymbolLookup driverLibrary) {
		int initialized = call(function(driverLibrary, "cuInit", State.DRIVER_MISSING, this.driver),
				ValueLayout.JAVA_INT, 0);
		if (initialized != SUCCESS) {
			throw new UnusableLibraryException(State.NO_DEVICE, "cuInit returned " + initialized);
		}
		return query(driverLibrary, "cuDeviceGetCount", State.DRIVER_MISSING, this.driver);
	}

	/** The value that a function of the form {@code int f(int* result)} writes. */
	private static int query(SymbolLookup library, String name, State lacking, String file) {
		try (Arena arena = Arena.ofConfined()) {
			MemorySegment result = arena.allocate(ValueLayout.JAVA_INT);
			int code = call(function(library, name, lacking, file), ValueLayout.ADDRESS, result);
			if (code != SUCCESS) {
				throw new UnusableLibraryException(lacking, name + " of " + file + " returned " + code);
			}
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
		return library.find(name).orElseThrow(() -> new UnusableLibraryException(lacking, file + " has no " + name));
	}

	@SuppressWarnings("restricted") // loads a library that the operator installed
	private static @Nullable SymbolLookup open(String library) {
		try {
			return library.contains("/") ? SymbolLookup.libraryLookup(Path.of(library), Arena.global())
					: SymbolLookup.libraryLookup(library, Arena.global());
		}
		catch (IllegalArgumentException ex) {
			return null;
		}
	}

	/** A library is present but lacks a function or returns an error. */
	private static final class UnusableLibraryException extends RuntimeException {

		private static final long serialVersionUID = 1L;

		private final State state;

		UnusableLibraryException(State state, String detail) {
			super(detail, null, false, false);
			this.state = state;
		}

	}

}
