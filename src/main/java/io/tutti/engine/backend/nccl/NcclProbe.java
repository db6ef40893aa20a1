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
import java.util.Optional;
import java.util.Set;

import io.tutti.engine.backend.nccl.NcclAvailability.State;
import org.jspecify.annotations.Nullable;

/**
 * Checks whether NCCL can be used, without loading the preset. Without a driver, loading
 * the preset fails permanently; without a required function, the process ends. Probed
 * libraries stay loaded, since a driver cannot be unloaded safely and since the preset
 * then finds a library that was given by path.
 */
public final class NcclProbe {

	private static final String PRESET = "org/bytedeco/cuda/global/nccl.class";

	/** Without these functions calls cannot have a deadline. */
	private static final List<NcclFunction> NEEDED = List.of(NcclFunction.INIT_RANK_CONFIG, NcclFunction.FINALIZE);

	private static final int SUCCESS = 0;

	private final NativeLibraries libraries;

	private final boolean presetPresent;

	/** A probe of this process. */
	public NcclProbe() {
		this(NativeLibraries.ofSystem(), NcclProbe.class.getClassLoader().getResource(PRESET) != null);
	}

	NcclProbe(NativeLibraries libraries, boolean presetPresent) {
		this.libraries = libraries;
		this.presetPresent = presetPresent;
	}

	/** Probes; reports problems in the result and never throws for them. */
	public NcclAvailability look() {
		if (!this.presetPresent) {
			return NcclAvailability.missing(State.PRESET_MISSING, "org.bytedeco:cuda is not on the class path");
		}
		SymbolLookup driver = open(this.libraries.driver());
		if (driver == null) {
			return NcclAvailability.missing(State.DRIVER_MISSING, this.libraries.driver() + " cannot be loaded");
		}
		try {
			return withDriver(driver);
		}
		catch (BrokenLibraryException ex) {
			return NcclAvailability.missing(ex.state, ex.detail);
		}
	}

	private NcclAvailability withDriver(SymbolLookup driver) {
		int devices = devices(driver);
		if (devices < 1) {
			return NcclAvailability.missing(State.NO_DEVICE, "the driver offers no GPU");
		}
		if (open(this.libraries.runtime()) == null) {
			return new NcclAvailability(State.RUNTIME_MISSING, this.libraries.runtime() + " cannot be loaded", devices,
					0, Set.of());
		}
		SymbolLookup nccl = open(this.libraries.nccl());
		if (nccl == null) {
			return new NcclAvailability(State.LIBRARY_MISSING, this.libraries.nccl() + " cannot be loaded", devices, 0,
					Set.of());
		}
		return withNccl(devices, nccl);
	}

	private NcclAvailability withNccl(int devices, SymbolLookup nccl) {
		int version = query(nccl, "ncclGetVersion", State.LIBRARY_MISSING, this.libraries.nccl());
		Set<NcclFunction> functions = EnumSet.noneOf(NcclFunction.class);
		for (NcclFunction function : NcclFunction.values()) {
			if (nccl.find(function.symbol()).isPresent()) {
				functions.add(function);
			}
		}
		for (NcclFunction needed : NEEDED) {
			if (!functions.contains(needed)) {
				return new NcclAvailability(State.TOO_OLD, "NCCL " + NcclAvailability.versionText(version) + " lacks "
						+ needed.symbol() + ", which came with " + needed.since(), devices, version, functions);
			}
		}
		return new NcclAvailability(State.AVAILABLE, "NCCL " + NcclAvailability.versionText(version) + ", " + devices
				+ ((devices == 1) ? " device" : " devices"), devices, version, functions);
	}

	private int devices(SymbolLookup driver) {
		int initialised = initialise(driver);
		if (initialised != SUCCESS) {
			throw new BrokenLibraryException(State.NO_DEVICE, "cuInit answered " + initialised);
		}
		return query(driver, "cuDeviceGetCount", State.DRIVER_MISSING, this.libraries.driver());
	}

	@SuppressWarnings("restricted") // calls into the driver by its documented signature
	private int initialise(SymbolLookup driver) {
		MethodHandle start = Linker.nativeLinker()
			.downcallHandle(function(driver, "cuInit", State.DRIVER_MISSING, this.libraries.driver()),
					FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
		try {
			return (int) start.invokeExact(0);
		}
		catch (Throwable ex) {
			throw new IllegalStateException("a native call threw", ex);
		}
	}

	/** The value that a function of the form {@code int f(int* result)} writes. */
	@SuppressWarnings("restricted") // calls into the library by its documented signature
	private static int query(SymbolLookup library, String name, State lacking, String file) {
		MethodHandle call = Linker.nativeLinker()
			.downcallHandle(function(library, name, lacking, file),
					FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS));
		try (Arena arena = Arena.ofConfined()) {
			MemorySegment result = arena.allocate(ValueLayout.JAVA_INT);
			int code = (int) call.invokeExact(result);
			if (code != SUCCESS) {
				throw new BrokenLibraryException(lacking, name + " of " + file + " answered " + code);
			}
			return result.get(ValueLayout.JAVA_INT, 0);
		}
		catch (BrokenLibraryException ex) {
			throw ex;
		}
		catch (Throwable ex) {
			throw new IllegalStateException("a native call threw", ex);
		}
	}

	private static MemorySegment function(SymbolLookup library, String name, State lacking, String file) {
		Optional<MemorySegment> found = library.find(name);
		return found.orElseThrow(() -> new BrokenLibraryException(lacking, file + " has no " + name));
	}

	@SuppressWarnings("restricted") // loads a library that the operator installed or
									// named
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
	private static final class BrokenLibraryException extends RuntimeException {

		private static final long serialVersionUID = 1L;

		private final State state;

		private final String detail;

		BrokenLibraryException(State state, String detail) {
			super(detail, null, false, false);
			this.state = state;
			this.detail = detail;
		}

	}

}
