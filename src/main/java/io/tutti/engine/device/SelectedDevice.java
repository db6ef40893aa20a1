package io.tutti.engine.device;

/**
 * Selects a device for the current thread; {@link #close()} restores the device that the
 * thread had selected before, unless this process does not use that one: to select it
 * would allocate memory there.
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

	/**
	 * Selects a device on this thread until the result is closed on the same thread.
	 * @param runtime runtime of the device
	 * @param device the device, from 0
	 * @return restores the selection when closed
	 */
	public static SelectedDevice select(DeviceRuntime runtime, int device) {
		int before = runtime.currentDevice();
		if (before != device) {
			runtime.selectDevice(device);
		}
		return new SelectedDevice(runtime, device, before);
	}

	@Override
	public void close() {
		if (this.before != this.device && this.runtime.isInUse(this.before)) {
			this.runtime.selectDevice(this.before);
		}
	}

}
