package io.tutti.engine.backend;

import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.GroupBackend;

/**
 * Ends every call at once and moves no data.
 */
public record IdleBackend(String name) implements GroupBackend {

	@Override
	public String transport() {
		return this.name;
	}

	@Override
	public void run(Call call) {
	}

	@Override
	public void wake() {
	}

	@Override
	public void close() {
	}

}
