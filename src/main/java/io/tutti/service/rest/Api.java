package io.tutti.service.rest;

/**
 * Paths and version of the REST interface.
 */
final class Api {

	/** Prefix of every path, before the version. */
	static final String ROOT = "/api/";

	/** The only version. */
	static final String VERSION = "1";

	/** The path of that version. */
	static final String V1 = ROOT + "v" + VERSION;

	private Api() {
	}

}
