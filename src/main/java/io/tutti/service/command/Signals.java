package io.tutti.service.command;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;

/**
 * Handles signals of the operating system. By default the JVM exits on a signal with 128
 * plus the signal's number. A shutdown hook can change that code only by
 * {@link Runtime#halt}, which skips every other hook. The only way to handle a signal
 * without exiting is {@code sun.misc.Signal} of the supported module
 * {@code jdk.unsupported}. It is called by reflection, since javac's warning about it
 * cannot be suppressed.
 */
final class Signals {

	private Signals() {
	}

	/**
	 * Runs an action on each signal of that name, on a separate thread, in place of the
	 * JVM's handler. The JVM's handler stays where signals cannot be handled (a JVM
	 * started with {@code -Xrs}).
	 * @param name such as {@code TERM}
	 */
	static void handle(String name, Runnable action) {
		try {
			Class<?> signal = Class.forName("sun.misc.Signal");
			Class<?> handler = Class.forName("sun.misc.SignalHandler");
			Object proxy = Proxy.newProxyInstance(handler.getClassLoader(), new Class<?>[] { handler },
					calling(action));
			signal.getMethod("handle", signal, handler)
				.invoke(null, signal.getConstructor(String.class).newInstance(name), proxy);
		}
		catch (ReflectiveOperationException ex) {
			// The signal still ends the process, with the JVM's exit code.
		}
	}

	/** Does what a signal of that name from another process does. */
	static void raise(String name) {
		try {
			Class<?> signal = Class.forName("sun.misc.Signal");
			signal.getMethod("raise", signal).invoke(null, signal.getConstructor(String.class).newInstance(name));
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException("this process cannot signal itself", ex);
		}
	}

	private static InvocationHandler calling(Runnable action) {
		return (proxy, method, arguments) -> switch (method.getName()) {
			case "handle" -> {
				action.run();
				yield null;
			}
			case "equals" -> proxy == arguments[0];
			case "hashCode" -> System.identityHashCode(proxy);
			default -> "Signals." + method.getName();
		};
	}

}
