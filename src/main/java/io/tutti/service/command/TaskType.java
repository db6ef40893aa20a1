package io.tutti.service.command;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Comparator;

import io.tutti.training.TrainingTask;
import io.tutti.training.table.MalformedDataException;
import org.jspecify.annotations.Nullable;

/**
 * A class of tasks and the constructor that creates one.
 *
 * @param constructor takes one record, the task's options, or nothing
 */
record TaskType(Constructor<?> constructor) {

	/**
	 * Finds a class by name.
	 * @return {@code null} if there is no such class; the name may be that of a bean
	 * @throws IllegalArgumentException if the class cannot be loaded, is not a task or
	 * has no usable constructor
	 */
	static @Nullable TaskType find(String name, ClassLoader loader) {
		try {
			return of(Class.forName(name, false, loader));
		}
		catch (ClassNotFoundException ex) {
			return null;
		}
		catch (LinkageError ex) {
			throw new IllegalArgumentException("--task " + name + " cannot be loaded: " + ex
					+ ". Add the jar with the missing class to --class-path, and compile for this Java ("
					+ Runtime.version().feature() + ") or an earlier one", ex);
		}
	}

	private static TaskType of(Class<?> type) {
		if (!TrainingTask.class.isAssignableFrom(type)) {
			throw new IllegalArgumentException(
					"--task " + type.getName() + " is not a task: it must implement " + TrainingTask.class.getName());
		}
		if (Modifier.isAbstract(type.getModifiers())) {
			throw new IllegalArgumentException(
					"--task " + type.getName() + " is abstract; give a class that can be instantiated");
		}
		return Arrays.stream(type.getConstructors())
			.filter(TaskType::isUsable)
			.max(Comparator.comparingInt(Constructor::getParameterCount))
			.map(TaskType::new)
			.orElseThrow(() -> new IllegalArgumentException("--task " + type.getName()
					+ " has no usable constructor: it needs a public one without parameters, or with one record"
					+ " that holds the options" + (isInner(type) ? "; make the class static" : "")));
	}

	private static boolean isUsable(Constructor<?> constructor) {
		Class<?>[] parameters = constructor.getParameterTypes();
		return parameters.length == 0 || (parameters.length == 1 && parameters[0].isRecord());
	}

	private static boolean isInner(Class<?> type) {
		return type.isMemberClass() && !Modifier.isStatic(type.getModifiers());
	}

	/** Name of the class. */
	String name() {
		return this.constructor.getDeclaringClass().getName();
	}

	/** The record with the task's options, {@code null} if it has none. */
	@Nullable Class<?> options() {
		return (this.constructor.getParameterCount() == 1) ? this.constructor.getParameterTypes()[0] : null;
	}

	/**
	 * Creates a task.
	 * @param options the options, ignored for a task without options
	 * @throws IllegalArgumentException if the constructor fails; a
	 * {@link MalformedDataException} if it finds malformed data
	 */
	TrainingTask create(@Nullable Object options) {
		try {
			this.constructor.trySetAccessible();
			return (TrainingTask) ((options() != null) ? this.constructor.newInstance(options)
					: this.constructor.newInstance());
		}
		catch (InvocationTargetException ex) {
			throw failed(ex.getCause());
		}
		catch (ReflectiveOperationException | ExceptionInInitializerError ex) {
			throw failed(ex);
		}
	}

	private IllegalArgumentException failed(Throwable cause) {
		if (cause instanceof MalformedDataException data) {
			return data;
		}
		String message = (cause instanceof IllegalArgumentException) ? String.valueOf(cause.getMessage())
				: "the task " + name() + " cannot be created: " + cause;
		return new IllegalArgumentException(message, cause);
	}

}
