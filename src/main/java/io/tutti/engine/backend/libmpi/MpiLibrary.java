package io.tutti.engine.backend.libmpi;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;

import io.tutti.BackendUnavailableException;
import io.tutti.engine.spi.CleanUp;

/**
 * An MPI library loaded into this process, with a known binary interface. Loading does
 * not initialize MPI and lasts until the process ends.
 */
public final class MpiLibrary {

	/** Library names of Open MPI 3 to 5. */
	private static final List<String> OPEN_MPI = List.of("libmpi.so.40", "libmpi.so.80");

	/** Library names of MPICH; the second is common to its ABI family. */
	private static final List<String> MPICH = List.of("libmpich.so.12", "libmpi.so.12");

	/** A symbol that only Open MPI exports. */
	private static final String OPEN_MPI_MARK = "ompi_mpi_comm_world";

	private static final int MAX_VERSION_BYTES = 8192;

	private static final String ACTION = "Set tutti.mpi.library to openmpi, to mpich or to the path of a libmpi, "
			+ "the one that the launcher belongs to; or leave it unset to use Tutti's own engine";

	private final SymbolLookup symbols;

	private final MpiAbi abi;

	private final String version;

	MpiLibrary(SymbolLookup symbols, MpiAbi abi, String version) {
		this.symbols = symbols;
		this.abi = abi;
		this.version = version;
	}

	/**
	 * Loads a library.
	 * @param choice {@code openmpi}, {@code mpich} or a path
	 * @throws BackendUnavailableException if no library is found or its binary interface
	 * is unknown
	 */
	public static MpiLibrary load(String choice) {
		SymbolLookup symbols = find(choice);
		String version = version(symbols, choice);
		MpiAbi abi = abi(symbols, version, choice);
		if (!choice.contains("/") && !choice.equals(abi.family())) {
			throw unavailable("the library found for " + choice + " is " + version);
		}
		return new MpiLibrary(symbols, abi, version);
	}

	/** The library's version text, such as {@code Open MPI v4.1.4}. */
	public String version() {
		return this.version;
	}

	MpiAbi abi() {
		return this.abi;
	}

	/**
	 * Binds a function that returns an error code.
	 * @param arguments one letter each: {@code p} for a pointer, {@code i} for an int,
	 * {@code h} for a handle; the method handle takes all of them as longs
	 */
	MethodHandle bind(String name, String arguments) {
		return bind(this.symbols, this.abi.handle(), name, arguments);
	}

	@SuppressWarnings("restricted")
	private static MethodHandle bind(SymbolLookup symbols, ValueLayout handle, String name, String arguments) {
		MemorySegment function = symbols.find(name)
			.orElseThrow(() -> unavailable("the library has no function " + name));
		MemoryLayout[] layouts = arguments.chars().mapToObj((letter) -> switch (letter) {
			case 'p' -> ValueLayout.JAVA_LONG;
			case 'h' -> handle;
			default -> ValueLayout.JAVA_INT;
		}).toArray(MemoryLayout[]::new);
		MethodHandle raw = Linker.nativeLinker()
			.downcallHandle(function, FunctionDescriptor.of(ValueLayout.JAVA_INT, layouts));
		return MethodHandles.explicitCastArguments(raw,
				MethodType.methodType(int.class, Collections.nCopies(layouts.length, long.class)));
	}

	private static SymbolLookup find(String choice) {
		leaveSignalsToTheJvm();
		if (choice.contains("/")) {
			if (!Files.isReadable(Path.of(choice))) {
				throw unavailable("no library at " + choice);
			}
			return open(List.of(choice), choice);
		}
		List<String> names = switch (choice) {
			case "openmpi" -> OPEN_MPI;
			case "mpich" -> MPICH;
			default -> throw unavailable("tutti.mpi.library=" + choice + " must be openmpi, mpich or a path");
		};
		return open(names, String.join(" or ", names) + " of the system or LD_LIBRARY_PATH");
	}

	@SuppressWarnings("restricted")
	private static SymbolLookup open(List<String> names, String description) {
		for (String name : names) {
			try {
				return SymbolLookup.libraryLookup(name, Arena.global());
			}
			catch (IllegalArgumentException ex) {
				continue;
			}
		}
		throw unavailable("no library " + description + " can be loaded");
	}

	/**
	 * Keeps UCX from handling signals that the JVM needs.
	 */
	@SuppressWarnings("restricted")
	private static void leaveSignalsToTheJvm() {
		try (Arena arena = Arena.ofConfined()) {
			MethodHandle setenv = bind(Linker.nativeLinker().defaultLookup(), ValueLayout.JAVA_LONG, "setenv", "ppi");
			int _ = (int) setenv.invokeExact(arena.allocateFrom("UCX_ERROR_SIGNALS").address(),
					arena.allocateFrom("").address(), 1L);
		}
		catch (Throwable ex) {
			throw CleanUp.unchecked(ex);
		}
	}

	private static String version(SymbolLookup symbols, String choice) {
		if (symbols.find("MPI_Get_library_version").isEmpty()) {
			throw unavailable(choice + " is no library of MPI 3 or later");
		}
		try (Arena arena = Arena.ofConfined()) {
			MemorySegment text = arena.allocate(MAX_VERSION_BYTES);
			MethodHandle function = bind(symbols, ValueLayout.JAVA_LONG, "MPI_Get_library_version", "pp");
			int _ = (int) function.invokeExact(text.address(), arena.allocate(ValueLayout.JAVA_INT).address());
			return text.getString(0).split("[,\\n]", 2)[0].replaceAll("\\s+", " ").strip();
		}
		catch (Throwable ex) {
			throw CleanUp.unchecked(ex);
		}
	}

	private static MpiAbi abi(SymbolLookup symbols, String version, String choice) {
		if (symbols.find(OPEN_MPI_MARK).isPresent()) {
			return MpiAbi.openMpi(symbols);
		}
		boolean mpich = List.of("MPICH", "MVAPICH", "Intel", "CRAY").stream().anyMatch(version::startsWith);
		if (!mpich) {
			throw unavailable(choice + " (" + version + ") has neither Open MPI's nor MPICH's binary interface");
		}
		return MpiAbi.mpich();
	}

	private static BackendUnavailableException unavailable(String problem) {
		return new BackendUnavailableException("mpi", problem, ACTION);
	}

}
