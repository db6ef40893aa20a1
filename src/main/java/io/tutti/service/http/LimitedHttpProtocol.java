package io.tutti.service.http;

import org.apache.coyote.Processor;
import org.apache.coyote.http11.Http11NioProtocol;

/**
 * HTTP/1.1 with a deadline for the whole of a request's header and with a limit on
 * connections that clients cannot use to lock others out. Public since Tomcat makes it by
 * its name.
 */
public final class LimitedHttpProtocol extends Http11NioProtocol {

	private final LimitedEndpoint endpoint;

	public LimitedHttpProtocol() {
		this(new LimitedEndpoint());
	}

	private LimitedHttpProtocol(LimitedEndpoint endpoint) {
		super(endpoint);
		this.endpoint = endpoint;
	}

	/**
	 * Takes the limit over from Tomcat, which would stop accepting connections there.
	 */
	void limitConnections() {
		this.endpoint.limit(getMaxConnections());
		setMaxConnections(-1);
	}

	@Override
	protected Processor createProcessor() {
		return new LimitedProcessor(this, getAdapter());
	}

}
