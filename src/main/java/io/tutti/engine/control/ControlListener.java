package io.tutti.engine.control;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;

import io.tutti.Failure;
import io.tutti.engine.spi.CallReport;
import org.jspecify.annotations.Nullable;

/**
 * Receives events and queries from the control plane. Called on the control thread, so
 * implementations must not block.
 */
public interface ControlListener {

	/** Instead of a sequence number: this rank does not know the group. */
	long NOT_A_MEMBER = Long.MAX_VALUE;

	/** The sequence number of a rank that has entered no call. */
	long NONE_ENTERED = -1;

	/**
	 * A verdict, the same on every rank. A {@link Failure.Kind#PEER_LOST} breaks every
	 * group of the lost rank, and all groups if that is rank 0, which announces the
	 * departures. Any other kind breaks only the group it names, except an abort of the
	 * group of all ranks. A rank that reports a failure after the verdict receives the
	 * same verdict again, since it may have formed the group again meanwhile.
	 */
	void failed(Failure verdict);

	/**
	 * A rank has left a group in order. This is a failure only if a call of that group
	 * needs the rank.
	 */
	default void departed(Departure departure) {
	}

	/**
	 * A rank's connection ended without a leave message: the kernel of its host has
	 * closed it, so its process is dead. A process that is alive resets a connection that
	 * it does not leave in order. Rank 0 sees this of every rank, the other ranks of rank
	 * 0. Called before the verdict.
	 */
	default void closedByKernel(int rank) {
	}

	/** A rank has asked all ranks to stop at the next step boundary. */
	void drainRequested(String reason);

	/**
	 * The sequence number of the last call that this rank has entered in a group, -1 for
	 * none, {@link #NOT_A_MEMBER} if it is not a member or has not formed the group yet.
	 * Rank 0 asks in order to find the missing ranks.
	 */
	default long lastEntered(String group) {
		return NONE_ENTERED;
	}

	/**
	 * Whether this rank is still inside a call of a group. Rank 0 asks together with the
	 * last call that this rank has entered.
	 */
	default boolean isInside(String group, long sequence) {
		return false;
	}

	/**
	 * This rank's progress in its groups, the world group first. Sent with every
	 * heartbeat, so that the last progress of a rank that stops answering is known.
	 * @return the progress in all groups, or in some of them if there are very many
	 */
	default List<RankProgress> progress() {
		return List.of();
	}

	/**
	 * The world ranks of a group, so that no other rank counts as missing. Empty for the
	 * world group, or if this rank does not know the group.
	 */
	default List<Integer> members(String group) {
		return List.of();
	}

	/**
	 * This rank's call at a sequence number of a group. Rank 0 asks because another rank
	 * waits in that call.
	 * @return {@code null} if the call is no longer recorded or has not begun. A call
	 * that has not begun is reported later: when it begins, has waited long, or ends.
	 */
	default @Nullable CallReport called(String group, long sequence) {
		return null;
	}

	/**
	 * This rank's encoded trace of its last calls, for a rank that asks for it.
	 * @param limit maximum number of calls per group
	 */
	default byte[] trace(int limit) {
		return new byte[0];
	}

	/**
	 * A rank has left in order before all ranks had joined. It may join again.
	 */
	default void withdrew(int rank) {
	}

	/** Logs information for an operator. */
	void note(String message);

	/** Logs a problem that does not break the group. */
	void warn(String message);

	/**
	 * A listener that may throw, made safe for the control thread, on which other ranks
	 * depend: an exception becomes a warning, and a query gets this interface's default.
	 */
	static ControlListener guarded(ControlListener listener) {
		InvocationHandler guard = (proxy, method, arguments) -> {
			try {
				return method.invoke(listener, arguments);
			}
			catch (InvocationTargetException ex) {
				if (!(ex.getCause() instanceof RuntimeException thrown)) {
					throw ex.getCause();
				}
				if (!method.getName().equals("warn")) {
					((ControlListener) proxy)
						.warn("the control plane's listener threw from " + method.getName() + ": " + thrown);
				}
				return method.isDefault() ? InvocationHandler.invokeDefault(proxy, method, arguments) : null;
			}
		};
		return (ControlListener) Proxy.newProxyInstance(ControlListener.class.getClassLoader(),
				new Class<?>[] { ControlListener.class }, guard);
	}

}
