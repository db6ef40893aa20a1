package io.tutti.service.rest;

import org.springframework.http.HttpStatus;

/**
 * A call whose client disconnected before every rank had arrived.
 */
final class CallWithdrawnException extends ProblemException {

	private static final long serialVersionUID = 1L;

	CallWithdrawnException(String label) {
		super(HttpStatus.CONFLICT, ProblemType.CALL_WITHDRAWN, "the call of label " + label
				+ " was withdrawn: its client closed the connection, or its sending side, before every rank arrived");
	}

}
