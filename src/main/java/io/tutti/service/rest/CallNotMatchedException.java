package io.tutti.service.rest;

import java.time.Duration;

import io.tutti.engine.control.CallMatch;
import io.tutti.engine.spi.CallSignature;

/**
 * A collective that was not run because a rank did not arrive or its call differs. The
 * group is intact.
 */
final class CallNotMatchedException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final transient CallSignature call;

	private final transient CallMatch match;

	private final transient Duration timeout;

	CallNotMatchedException(CallSignature call, CallMatch match, Duration timeout) {
		super(describe(call, match));
		this.call = call;
		this.match = match;
		this.timeout = timeout;
	}

	CallSignature call() {
		return this.call;
	}

	CallMatch match() {
		return this.match;
	}

	Duration timeout() {
		return this.timeout;
	}

	private static String describe(CallSignature call, CallMatch match) {
		String where = call.collective() + " of label " + match.outcome().label() + ", call " + match.outcome().round();
		return where + switch (match.outcome().result()) {
			case PASSED -> ": ranks called different collectives: " + CallText.difference(match.calls());
			case BROKEN -> ": a deadline passed, waiting for ranks " + match.outcome().missingRanks();
			case LATE, WITHDRAWN ->
				" had been given up before this rank came; its next call of the label joins the next";
		};
	}

}
