package io.tutti.engine.transport;

/**
 * Connections that never arrive.
 */
public class NoConnections implements Connections {

	@Override
	public void dial(int peer) {
	}

	@Override
	public boolean poll(Handler handler) {
		return false;
	}

	@Override
	public void prepareSleep(int awaited) {
	}

	@Override
	public void sleep(long maxNanos) {
	}

	@Override
	public void wake() {
	}

	@Override
	public void close() {
	}

}
