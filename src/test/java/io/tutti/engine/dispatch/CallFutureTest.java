package io.tutti.engine.dispatch;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Only the call completes its future.
 */
@Timeout(30)
class CallFutureTest {

	/** Methods of this JDK that complete a future from outside. */
	private static final Set<String> COMPLETING = Set.of("cancel", "complete", "completeExceptionally", "completeAsync",
			"completeOnTimeout", "orTimeout", "obtrudeValue", "obtrudeException");

	/** Methods that query the future, wait for it, or derive another one. */
	private static final Set<String> HARMLESS = Set.of("acceptEither", "acceptEitherAsync", "applyToEither",
			"applyToEitherAsync", "copy", "defaultExecutor", "exceptionNow", "exceptionally", "exceptionallyAsync",
			"exceptionallyCompose", "exceptionallyComposeAsync", "get", "getNow", "getNumberOfDependents", "handle",
			"handleAsync", "isCancelled", "isCompletedExceptionally", "isDone", "join", "minimalCompletionStage",
			"newIncompleteFuture", "resultNow", "runAfterBoth", "runAfterBothAsync", "runAfterEither",
			"runAfterEitherAsync", "state", "thenAccept", "thenAcceptAsync", "thenAcceptBoth", "thenAcceptBothAsync",
			"thenApply", "thenApplyAsync", "thenCombine", "thenCombineAsync", "thenCompose", "thenComposeAsync",
			"thenRun", "thenRunAsync", "toCompletableFuture", "toString", "whenComplete", "whenCompleteAsync");

	private final CompletableFuture<String> engine = new CompletableFuture<>();

	private final List<String> aborts = new ArrayList<>();

	private final CompletableFuture<String> call = CallFuture.of(this.engine, () -> "broadcast #3", this.aborts::add);

	/** Fails for a method that a new JDK adds until it is added to one of the sets. */
	@Test
	void everyMethodThatCompletesAFutureIsOverridden() {
		Set<String> inherited = new TreeSet<>();
		for (Method method : CompletableFuture.class.getDeclaredMethods()) {
			if (Modifier.isPublic(method.getModifiers()) && !Modifier.isStatic(method.getModifiers())
					&& !method.isSynthetic()) {
				inherited.add(method.getName());
				if (COMPLETING.contains(method.getName())) {
					assertThat(CallFuture.class.getDeclaredMethods())
						.anyMatch((own) -> own.getName().equals(method.getName())
								&& Arrays.equals(own.getParameterTypes(), method.getParameterTypes()));
				}
			}
		}
		inherited.removeAll(COMPLETING);
		assertThat(inherited).isSubsetOf(HARMLESS);
	}

	@Test
	void theFutureCompletesWithTheOutcomeOfTheCall() {
		assertThat(this.call).isNotDone();
		this.engine.complete("done");
		assertThat(this.call).isCompletedWithValue("done");
		CompletableFuture<String> failing = new CompletableFuture<>();
		CompletableFuture<String> failed = CallFuture.of(failing.thenApply((value) -> value), () -> "send",
				this.aborts::add);
		IllegalStateException cause = new IllegalStateException("no");
		failing.completeExceptionally(cause);
		assertThat(failed.exceptionNow()).isSameAs(cause);
		assertThatThrownBy(failed::join).isInstanceOf(CompletionException.class).hasCause(cause);
	}

	@Test
	void noOtherCodeCompletesTheFuture() {
		assertThat(this.call.cancel(true)).isFalse();
		assertThat(this.call.complete("other")).isFalse();
		assertThat(this.call.completeExceptionally(new IllegalStateException())).isFalse();
		assertThatThrownBy(() -> this.call.obtrudeValue("other")).isInstanceOf(UnsupportedOperationException.class)
			.hasMessageContaining("broadcast #3")
			.hasMessageContaining("copy()");
		assertThat(this.call).isNotDone();
		this.engine.complete("done");
		assertThatThrownBy(() -> this.call.obtrudeException(new IllegalStateException()))
			.isInstanceOf(UnsupportedOperationException.class);
		assertThat(this.call).isCompletedWithValue("done");
	}

	@Test
	void derivedFuturesBelongToTheCaller() {
		CompletableFuture<String> copy = this.call.copy();
		assertThat(copy.cancel(false)).isTrue();
		assertThat(this.call.thenApply(String::length).complete(7)).isTrue();
		assertThat(this.call.minimalCompletionStage().toCompletableFuture().complete("mine")).isTrue();
		assertThat(this.call).isNotDone();
	}

	@Test
	void aTimeoutAbortsTheGroupAndTheCallCompletesTheFuture() {
		CompletableFuture<Void> aborted = new CompletableFuture<>();
		CompletableFuture<String> timed = CallFuture.of(this.engine, () -> "broadcast #3", (reason) -> {
			this.aborts.add(reason);
			aborted.complete(null);
		});
		timed.orTimeout(1, TimeUnit.MILLISECONDS);
		aborted.join();
		assertThat(timed).isNotDone();
		assertThat(this.aborts)
			.containsExactly("broadcast #3 was not done within its caller's orTimeout of 1 MILLISECONDS");
	}

}
