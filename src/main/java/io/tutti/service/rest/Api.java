package io.tutti.service.rest;

/**
 * Where the REST interface lives.
 */
final class Api {

	/** What stands before the version in every path. */
	static final String ROOT = "/api/";

	/** The version that there is. */
	static final String VERSION = "1";

	/** The path of that version. */
	static final String V1 = ROOT + "v" + VERSION;

	private Api() {
	}

}
