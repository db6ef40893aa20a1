package io.tutti.engine.backend;

import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.tutti.Collective;
import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.Transfer;
import org.jspecify.annotations.Nullable;

/**
 * The methods of a group's interface that take part in something, with valid arguments
 * for a group of one rank.
 */
final class GroupMethods {

	/** Methods that only describe the group, or end it. */
	private static final List<String> WITHOUT_CALL = List.of("rank", "worldSize", "name", "generation", "isElastic",
			"backend", "transport", "takesDeviceMemory", "state", "failure", "lastEntered", "timeout", "close");

	/** Methods of one rank alone. */
	private static final List<String> LOCAL = List.of("withTimeout", "withLabel", "abort", "onClose", "shared");

	private GroupMethods() {
	}

	/** All that may throw. */
	static List<Method> calls() {
		return Stream.of(ProcessGroup.class.getDeclaredMethods())
			.filter((method) -> Modifier.isPublic(method.getModifiers()) && !Modifier.isStatic(method.getModifiers()))
			.filter((method) -> !WITHOUT_CALL.contains(method.getName()))
			.sorted(Comparator.comparing(Method::toString))
			.toList();
	}

	/** Those that need the group to be open and whole. */
	static List<Method> communicating() {
		return calls().stream().filter((method) -> !LOCAL.contains(method.getName())).toList();
	}

	/** What error messages call the method. */
	static String label(Method method) {
		String name = method.getName().replace("Async", "");
		return switch (name) {
			case "receiveAny" -> "receive";
			case "sendReceive" -> "send-receive";
			case "tryProbe" -> "probe";
			default -> namesake(method).map(Collective::label).orElse(name);
		};
	}

	/** The collective that the method issues. */
	static Optional<Collective> collective(Method method) {
		return switch (method.getName()) {
			case "allocate", "free", "split", "subgroup" -> Optional.of(Collective.ALL_GATHER);
			default -> namesake(method);
		};
	}

	private static Optional<Collective> namesake(Method method) {
		String name = method.getName().replace("Async", "");
		return Stream.of(Collective.values())
			.filter((collective) -> collective.label().replace("-", "").equalsIgnoreCase(name))
			.findFirst();
	}

	/** Arguments that a group of one rank accepts. */
	static Object[] arguments(Method method) {
		return Arrays.stream(method.getParameters()).map((parameter) -> argument(method, parameter)).toArray();
	}

	private static Object argument(Method method, Parameter parameter) {
		Class<?> type = parameter.getType();
		if (type == MemorySegment.class) {
			return MemorySegment.ofArray(new int[2]);
		}
		if (type == ByteBuffer.class) {
			return ByteBuffer.allocate(8).order(ByteOrder.nativeOrder());
		}
		if (type == DataType.class) {
			return DataType.INT32;
		}
		if (type == ReduceOp.class) {
			return ReduceOp.SUM;
		}
		if (type == long[].class && parameter.getName().toLowerCase().endsWith("counts")) {
			return new long[] { 2 };
		}
		if (type.isArray()) {
			return java.lang.reflect.Array.newInstance(type.getComponentType(), 2);
		}
		if (type == List.class) {
			return switch (method.getName()) {
				case "startAll" -> List.of(Transfer.send(MemorySegment.ofArray(new int[2]), DataType.INT32, 0, 0));
				case "subgroup" -> List.of(0);
				default -> List.of(MemorySegment.ofArray(new int[2]));
			};
		}
		if (type == Class.class) {
			return Object.class;
		}
		return simple(type);
	}

	private static Object simple(Class<?> type) {
		if (type == int.class) {
			return 0;
		}
		if (type == long.class) {
			return 8L;
		}
		if (type == Duration.class) {
			return Duration.ofSeconds(10);
		}
		if (type == Runnable.class) {
			return (Runnable) () -> {
			};
		}
		if (type == Supplier.class) {
			return (Supplier<Object>) Object::new;
		}
		if (type == Consumer.class) {
			return (Consumer<Object>) (released) -> {
			};
		}
		return "text";
	}

	/** What a call throws, or its work fails with; {@code null} if it succeeds. */
	static @Nullable Throwable failure(ProcessGroup group, Method method, Object... arguments)
			throws IllegalAccessException {
		try {
			Object result = method.invoke(group, arguments);
			return (result instanceof io.tutti.Work<?> work) ? ended(work) : null;
		}
		catch (InvocationTargetException ex) {
			return ex.getCause();
		}
	}

	private static @Nullable Throwable ended(io.tutti.Work<?> work) {
		try {
			work.await();
			return null;
		}
		catch (RuntimeException ex) {
			return ex;
		}
	}

}
