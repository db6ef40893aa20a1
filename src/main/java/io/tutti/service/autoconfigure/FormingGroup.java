package io.tutti.service.autoconfigure;

import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.tutti.ProcessGroup;
import io.tutti.engine.backend.JoinedGroup;
import io.tutti.service.group.GroupLifecycle;
import io.tutti.service.group.GroupUnavailableException;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.AopUtils;

/**
 * A proxy for a group that may still be forming. Each call waits until the group has
 * formed and is then forwarded to it. A forwarded call costs a few hundred nanoseconds
 * and one array for its arguments.
 */
final class FormingGroup implements MethodInterceptor {

	private final GroupLifecycle lifecycle;

	private final Duration limit;

	private FormingGroup(GroupLifecycle lifecycle, Duration limit) {
		this.lifecycle = lifecycle;
		this.limit = limit;
	}

	/**
	 * Creates the proxy.
	 * @param limit how long a call waits for the group to form
	 */
	static ProcessGroup of(GroupLifecycle lifecycle, Duration limit) {
		return ProxyFactory.getProxy(ProcessGroup.class, new FormingGroup(lifecycle, limit));
	}

	@Override
	public @Nullable Object invoke(MethodInvocation call) throws Throwable {
		if (AopUtils.isToStringMethod(call.getMethod())) {
			return "the group of all ranks, " + this.lifecycle.status().state();
		}
		return AopUtils.invokeJoinpointUsingReflection(formed(), call.getMethod(), call.getArguments());
	}

	private ProcessGroup formed() {
		JoinedGroup joined = this.lifecycle.joined();
		return ((joined != null) ? joined : await()).world();
	}

	private JoinedGroup await() {
		if (!this.lifecycle.isRunning() && !this.lifecycle.formed().isDone()) {
			throw new IllegalStateException("the group is joined after all beans are created: use it from an"
					+ " ApplicationRunner or a SmartLifecycle, not from a constructor or @PostConstruct");
		}
		try {
			return this.lifecycle.formed().get(this.limit.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException ex) {
			throw new GroupUnavailableException(this.lifecycle.status(), ex.getCause());
		}
		catch (TimeoutException ex) {
			throw new GroupUnavailableException(this.lifecycle.status(), ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new GroupUnavailableException(this.lifecycle.status(), ex);
		}
	}

}
