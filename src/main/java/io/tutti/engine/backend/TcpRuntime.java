package io.tutti.engine.backend;

import io.tutti.Failure;
import io.tutti.engine.transport.tcp.DataListener;
import org.jspecify.annotations.Nullable;

/**
 * The listener for data connections; each group opens and closes its own connections.
 */
record TcpRuntime(DataListener listener) implements JobRuntime {

	@Override
	public void leaving(@Nullable Failure failure) {
	}

	@Override
	public boolean abort(int code) {
		return false;
	}

	@Override
	public void close() {
		this.listener.close();
	}

}
