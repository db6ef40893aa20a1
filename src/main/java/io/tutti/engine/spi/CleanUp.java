package io.tutti.engine.spi;

import java.util.Collection;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/** What remains to be done after a failure, or at the end of a resource. */
public final class CleanUp {

	/** Makes a result, or throws one kind of checked exception or none. */
	@FunctionalInterface
	public interface Result<T extends @Nullable Object, E extends Exception> {

		T get() throws E;

	}

	private CleanUp() {
	}

	/**
	 * Runs all actions in order, also after one that fails. Throws the first failure,
	 * with the later ones as suppressed.
	 */
	public static void runAll(Collection<Runnable> actions) {
		Throwable failure = run(actions, null);
		if (failure != null) {
			throw unchecked(failure);
		}
	}

	/**
	 * Runs all actions after a failure, to which those of the actions are added as
	 * suppressed.
	 */
	public static void after(Throwable failure, Collection<Runnable> actions) {
		run(actions, failure);
	}

	/**
	 * Takes a result whose resources the clean-up releases if it cannot be made. Failures
	 * of the clean-up are added as suppressed.
	 */
	public static <T extends @Nullable Object, E extends Exception> T orElse(Result<T, E> result, AutoCloseable cleanUp)
			throws E {
		try {
			return result.get();
		}
		catch (Throwable ex) {
			try {
				cleanUp.close();
			}
			catch (Throwable later) {
				joined(ex, later);
			}
			throw ex;
		}
	}

	/**
	 * A failure as an exception to throw, where the API declares {@link Throwable} but
	 * nothing throws a checked exception. Throws an {@link Error} itself.
	 */
	public static RuntimeException unchecked(Throwable failure) {
		return switch (failure) {
			case Error error -> throw error;
			case RuntimeException ex -> ex;
			default -> new IllegalStateException(failure);
		};
	}

	/** A failure's message, or its class name if it has none. */
	public static String message(Throwable failure) {
		return Objects.requireNonNullElse(failure.getMessage(), failure.getClass().getSimpleName());
	}

	/** Returns the first failure, {@code null} if there is none. */
	private static @Nullable Throwable run(Collection<Runnable> actions, @Nullable Throwable earlier) {
		Throwable failure = earlier;
		for (Runnable action : actions) {
			try {
				action.run();
			}
			catch (RuntimeException | Error ex) {
				failure = joined(failure, ex);
			}
		}
		return failure;
	}

	/** The same failure may end several actions. */
	private static Throwable joined(@Nullable Throwable first, Throwable later) {
		if (first == null) {
			return later;
		}
		if (first != later) {
			first.addSuppressed(later);
		}
		return first;
	}

}
