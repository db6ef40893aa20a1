package io.tutti.service.rest;

/**
 * A call whose client closed its connection before every rank had arrived. The call has
 * no effect, and the rank's next call takes its place.
 */
final class CallWithdrawnException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	CallWithdrawnException(String label) {
		super("the call of label " + label + " was withdrawn: its client closed the connection, or its sending side,"
				+ " before every rank had come");
	}

}
