package io.tutti.service.http;

import org.apache.coyote.Processor;
import org.apache.coyote.http11.Http11NioProtocol;

/**
 * HTTP/1.1 with a deadline for a complete request header and a connection limit that a
 * client cannot use to shut out others. Public because Tomcat instantiates it by name.
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
	 * Takes over the connection limit from Tomcat, which would stop accepting at the
	 * limit.
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
