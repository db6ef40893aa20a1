package io.tutti.service.rest;

/**
 * A call whose client closed its connection before every rank had come. It takes part in
 * nothing; the rank's next call takes its place.
 */
final class CallWithdrawnException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	CallWithdrawnException(String label) {
		super("the call of label " + label + " was withdrawn: its client closed the connection, or its sending side,"
				+ " before every rank had come");
	}

}
