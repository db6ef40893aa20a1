package io.tutti.service.http;

import java.io.IOException;

import jakarta.servlet.ServletException;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ValveBase;
import org.springframework.boot.tomcat.TomcatWebServerFactory;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.core.Ordered;

/**
 * Makes Tomcat provide the {@link ClientConnection} of each HTTP/1.1 request, in Tutti's
 * own server and in that of an application. Applied first, so that an application may
 * choose another protocol implementation.
 */
public final class ClientConnections implements WebServerFactoryCustomizer<TomcatServletWebServerFactory>, Ordered {

	@Override
	public void customize(TomcatServletWebServerFactory factory) {
		if (factory.getProtocol().equals(TomcatWebServerFactory.DEFAULT_PROTOCOL)) {
			factory.setProtocol(LimitedHttpProtocol.class.getName());
		}
		factory.addContextValves(new Provider());
	}

	@Override
	public int getOrder() {
		return HIGHEST_PRECEDENCE;
	}

	private static final class Provider extends ValveBase {

		Provider() {
			super(true);
		}

		@Override
		public void invoke(Request request, Response response) throws IOException, ServletException {
			request.setAttribute(ClientConnection.ATTRIBUTE, request.getServletConnection());
			getNext().invoke(request, response);
		}

	}

}
