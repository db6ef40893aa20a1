package io.tutti.engine.device;

/**
 * A device selected for a while: whatever this thread had selected before is selected
 * again at the end.
 */
public final class SelectedDevice implements AutoCloseable {

	private final DeviceRuntime runtime;

	private final int device;

	private final int before;

	private SelectedDevice(DeviceRuntime runtime, int device, int before) {
		this.runtime = runtime;
		this.device = device;
		this.before = before;
	}

	/** Selects a device on this thread until it is closed, on the same thread. */
	public static SelectedDevice select(DeviceRuntime runtime, int device) {
		int before = runtime.currentDevice();
		if (before != device) {
			runtime.selectDevice(device);
		}
		return new SelectedDevice(runtime, device, before);
	}

	@Override
	public void close() {
		if (this.before != this.device) {
			this.runtime.selectDevice(this.before);
		}
	}

}
