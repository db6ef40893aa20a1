package io.tutti.testing;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;

import io.tutti.ProcessGroup;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ExtensionConfigurationException;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * Runs the method of a {@link RankTest} on every rank instead of once.
 */
final class RankTestExtension implements ParameterResolver, InvocationInterceptor {

	@Override
	public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
		return parameter.getParameter().getType() == ProcessGroup.class
				&& parameter.getDeclaringExecutable() instanceof Method method && isRankTest(method);
	}

	/** A placeholder, replaced by the rank's own group when the rank runs. */
	@Override
	public @Nullable Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
		return null;
	}

	@Override
	public void interceptTestMethod(Invocation<@Nullable Void> invocation,
			ReflectiveInvocationContext<Method> invocationContext, ExtensionContext context) throws Throwable {
		Method method = invocationContext.getExecutable();
		RankTest test = AnnotationSupport.findAnnotation(method, RankTest.class).orElseThrow();
		requireValid(test, method);
		invocation.skip();
		method.setAccessible(true);
		Object instance = context.getRequiredTestInstance();
		Object[] arguments = invocationContext.getArguments().toArray();
		Duration limit = Duration.ofSeconds(test.timeoutSeconds());
		try (RankWorld world = RankWorld.of(test.transport(), test.worldSize(), limit)) {
			new RankRun(world, test.worldSize(), (group) -> call(method, instance, arguments, group)).run(limit);
		}
	}

	private static void call(Method method, Object instance, Object[] shared, ProcessGroup group) throws Throwable {
		Object[] arguments = shared.clone();
		Class<?>[] types = method.getParameterTypes();
		for (int i = 0; i < types.length; i++) {
			if (types[i] == ProcessGroup.class) {
				arguments[i] = group;
			}
		}
		try {
			method.invoke(instance, arguments);
		}
		catch (InvocationTargetException ex) {
			throw ex.getCause();
		}
	}

	private static void requireValid(RankTest test, Method method) {
		if (test.worldSize() < 1 || test.timeoutSeconds() < 1) {
			throw new ExtensionConfigurationException("@RankTest of " + method.getName()
					+ " needs a world size and a time limit of at least 1, got worldSize=" + test.worldSize()
					+ ", timeoutSeconds=" + test.timeoutSeconds());
		}
	}

	private static boolean isRankTest(Method method) {
		return AnnotationSupport.isAnnotated(method, RankTest.class);
	}

}
