package io.tutti.service.rest;

/**
 * Where the REST interface lives.
 */
final class Api {

	static final String V1 = "/api/v1";

	private Api() {
	}

}
