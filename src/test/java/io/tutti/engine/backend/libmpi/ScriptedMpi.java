package io.tutti.engine.backend.libmpi;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

import io.tutti.DataType;
import io.tutti.engine.spi.NativeMemory;

/**
 * An MPI library that starts every operation and completes none unless a test wants that.
 * Its functions succeed unless a test wants an error code.
 */
public final class ScriptedMpi implements SymbolLookup {

	private static final int LARGEST_TAG = 32767;

	private final Map<String, Integer> codes = new ConcurrentHashMap<>();

	private final Map<String, Integer> calls = new ConcurrentHashMap<>();

	private final CountDownLatch unblocked = new CountDownLatch(1);

	private volatile String blocking = "";

	private volatile boolean completing;

	/** Every call of a function returns a code. */
	ScriptedMpi answers(String function, int code) {
		this.codes.put(function, code);
		return this;
	}

	/** Calls of a function return only once the library is unblocked. */
	public ScriptedMpi blocks(String function) {
		this.blocking = function;
		return this;
	}

	/** Lets blocked calls return. */
	public void unblock() {
		this.unblocked.countDown();
	}

	/** Every request is done when it is tested: a receive by one float with tag 7. */
	public ScriptedMpi completes() {
		this.completing = true;
		return this;
	}

	/** Number of calls of a function. */
	int calls(String function) {
		return this.calls.getOrDefault(function, 0);
	}

	/** The communicator of all ranks as rank 0, on a started thread. */
	public MpiCommunicator world(int worldSize) {
		MpiLibrary library = new MpiLibrary(this, MpiAbi.mpich(), "scripted");
		MpiThread thread = new MpiThread(new MpiCalls(library, 0, worldSize), 0);
		thread.start();
		return new MpiCommunicator(new MpiWorld(library, thread, new MpiWorld.WorldView(0, worldSize, LARGEST_TAG)), 0);
	}

	/** A function that ignores its arguments fits every signature. */
	@Override
	public Optional<MemorySegment> find(String name) {
		return Optional.of(switch (name) {
			case "MPI_Test" -> stub("test", name, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG);
			case "MPI_Get_count" ->
				stub("count", name, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG);
			default -> stub("answer", name);
		});
	}

	@SuppressWarnings("restricted")
	private MemorySegment stub(String method, String function, ValueLayout... arguments) {
		FunctionDescriptor descriptor = FunctionDescriptor.of(ValueLayout.JAVA_INT, arguments);
		try {
			MethodHandle handle = MethodHandles.lookup()
				.findVirtual(ScriptedMpi.class, method,
						descriptor.toMethodType().insertParameterTypes(0, String.class));
			return Linker.nativeLinker()
				.upcallStub(MethodHandles.insertArguments(handle, 0, this, function), descriptor, Arena.global());
		}
		catch (ReflectiveOperationException ex) {
			throw new AssertionError(ex);
		}
	}

	/** A failed test leaves no tag in the status. */
	private int test(String function, long request, long flag, long status) {
		NativeMemory.putInt(flag, this.completing ? 1 : 0);
		int code = answer(function);
		NativeMemory.putInt(status + MpiAbi.mpich().statusTag(),
				(code != 0) ? -1 : MessageTag.encode(DataType.FLOAT32, 7));
		return code;
	}

	private int count(String function, long status, long type, long count) {
		NativeMemory.putInt(count, 1);
		return answer(function);
	}

	private int answer(String function) {
		this.calls.merge(function, 1, Integer::sum);
		if (function.equals(this.blocking)) {
			awaitUnblocked();
		}
		return this.codes.getOrDefault(function, 0);
	}

	private void awaitUnblocked() {
		try {
			this.unblocked.await();
		}
		catch (InterruptedException ex) {
			throw new AssertionError(ex);
		}
	}

}
