package io.tutti.engine.backend.libmpi;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * An MPI library that starts every operation and completes none. Its functions succeed
 * unless a test wants an error code.
 */
final class ScriptedMpi implements SymbolLookup {

	private static final int LARGEST_TAG = 32767;

	private final Map<String, Integer> codes = new ConcurrentHashMap<>();

	private final Map<String, Integer> calls = new ConcurrentHashMap<>();

	/** Every call of a function returns a code. */
	ScriptedMpi answers(String function, int code) {
		this.codes.put(function, code);
		return this;
	}

	/** Number of calls of a function. */
	int calls(String function) {
		return this.calls.getOrDefault(function, 0);
	}

	/** The communicator of all ranks as rank 0, on a started thread. */
	MpiCommunicator world(int worldSize) {
		MpiLibrary library = new MpiLibrary(this, MpiAbi.mpich(), "scripted");
		MpiThread thread = new MpiThread(new MpiCalls(library, 0, worldSize), 0);
		thread.start();
		return new MpiCommunicator(new MpiWorld(library, thread, new MpiWorld.WorldView(0, worldSize, LARGEST_TAG)), 0);
	}

	/** A function that ignores its arguments fits every signature. */
	@Override
	@SuppressWarnings("restricted")
	public Optional<MemorySegment> find(String name) {
		try {
			MethodHandle function = MethodHandles.lookup()
				.findVirtual(ScriptedMpi.class, "answer", MethodType.methodType(int.class, String.class));
			return Optional.of(Linker.nativeLinker()
				.upcallStub(MethodHandles.insertArguments(function, 0, this, name),
						FunctionDescriptor.of(ValueLayout.JAVA_INT), Arena.global()));
		}
		catch (ReflectiveOperationException ex) {
			throw new AssertionError(ex);
		}
	}

	private int answer(String function) {
		this.calls.merge(function, 1, Integer::sum);
		return this.codes.getOrDefault(function, 0);
	}

}
