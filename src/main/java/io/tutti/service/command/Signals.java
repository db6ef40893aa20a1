package io.tutti.service.command;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/**
 * Signals of the operating system. Left alone, the JVM exits by a signal with 128 plus
 * its number, and a shutdown hook can change that only by {@link Runtime#halt}, which
 * skips every other hook. The one way to take a signal as a mere request is
 * {@code sun.misc.Signal} of the supported module {@code jdk.unsupported}; it is called
 * by reflection, since javac warns of it in a way that nothing turns off.
 */
final class Signals {

	private Signals() {
	}

	/**
	 * Runs an action on each signal of that name, on a thread of its own, in place of the
	 * JVM's own handling. Where signals are not to be had (a JVM started with
	 * {@code -Xrs}), the JVM's own handling stays.
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
			// The process still ends by the signal, with the JVM's own exit code.
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
			default -> describe(method);
		};
	}

	private static String describe(Method method) {
		return "Signals." + method.getName();
	}

}
