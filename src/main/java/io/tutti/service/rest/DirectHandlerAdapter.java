package io.tutti.service.rest;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;

import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerAdapter;
import org.springframework.web.servlet.mvc.method.annotation.ServletInvocableHandlerMethod;

/**
 * Calls the methods of controllers by method handles. Reflection calls by native code in
 * Tutti's own processes, which start faster so, and a virtual thread that waits below
 * native code keeps its carrier: as many waiting calls as processors would stop the web
 * server.
 */
final class DirectHandlerAdapter extends RequestMappingHandlerAdapter {

	private final Map<Method, MethodHandle> handles = new ConcurrentHashMap<>();

	@Override
	protected ServletInvocableHandlerMethod createInvocableHandlerMethod(HandlerMethod handler) {
		return new DirectHandlerMethod(handler);
	}

	/** From an array of the receiver and the arguments. */
	private static MethodHandle handle(Method method) {
		try {
			return MethodHandles.lookup().unreflect(method).asSpreader(Object[].class, 1 + method.getParameterCount());
		}
		catch (IllegalAccessException ex) {
			throw new IllegalStateException("a controller's method is not accessible", ex);
		}
	}

	private final class DirectHandlerMethod extends ServletInvocableHandlerMethod {

		DirectHandlerMethod(HandlerMethod handler) {
			super(handler);
		}

		@Override
		protected @Nullable Object doInvoke(@Nullable Object... args) throws Exception {
			MethodHandle handle = DirectHandlerAdapter.this.handles.computeIfAbsent(getBridgedMethod(),
					DirectHandlerAdapter::handle);
			@Nullable Object[] receiverAndArgs = new Object[1 + args.length];
			receiverAndArgs[0] = Objects.requireNonNull(getBean());
			System.arraycopy(args, 0, receiverAndArgs, 1, args.length);
			try {
				return handle.invoke(receiverAndArgs);
			}
			catch (Exception | Error ex) {
				throw ex;
			}
			catch (Throwable ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

}
