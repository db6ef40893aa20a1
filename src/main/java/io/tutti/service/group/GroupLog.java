package io.tutti.service.group;

import io.tutti.CollectiveListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the engine's events to the log, except failures: the command that a failure ends
 * reports it.
 */
final class GroupLog implements CollectiveListener {

	private static final Logger log = LoggerFactory.getLogger(GroupLog.class);

	@Override
	public void note(String message) {
		log.info(message);
	}

	@Override
	public void warn(String message) {
		log.warn(message);
	}

	@Override
	public void withdrew(int rank) {
		log.warn("rank {} was stopped during rendezvous", rank);
	}

}
