package io.tutti.service.rest;

/**
 * A request came from a web page of another origin, or under a host that is not this
 * rank's.
 */
final class ForeignRequestException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final String hint;

	private ForeignRequestException(String message, String hint) {
		super(message);
		this.hint = hint;
	}

	/** A host that this rank does not serve. */
	static ForeignRequestException underHost(String host) {
		return new ForeignRequestException("the host " + host + " is no name or address of this rank",
				"Ask at an address of this rank, or add the host to tutti.http.allowed-hosts"
						+ " (TUTTI_HTTP_ALLOWEDHOSTS)");
	}

	/**
	 * A state-changing request from another origin.
	 * @param origin text that names the origin
	 */
	static ForeignRequestException from(String origin) {
		return new ForeignRequestException(
				"this request changes something and comes from a web page of another origin (" + origin + ")",
				"Send it from a program, which names no origin; behind a proxy that ends TLS or replaces the host, let"
						+ " the rank trust its forwarded headers (server.forward-headers-strategy)");
	}

	/** What the caller can do. */
	String hint() {
		return this.hint;
	}

}
