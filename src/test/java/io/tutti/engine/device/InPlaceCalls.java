package io.tutti.engine.device;

import io.tutti.ReduceOp;
import io.tutti.engine.backend.nccl.HostDevices;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Makes every in-place collective once on one rank. Part {@code p} of rank {@code r}'s
 * buffer holds {@code 100 (r + 1) + p}.
 */
public final class InPlaceCalls {

	private final HostDevices devices;

	private final DeviceCollectives collectives;

	private final int rank;

	private final int worldSize;

	private final int count;

	private InPlaceCalls(HostDevices devices, DeviceCollectives collectives, int rank, int worldSize, int count) {
		this.devices = devices;
		this.collectives = collectives;
		this.rank = rank;
		this.worldSize = worldSize;
		this.count = count;
	}

	/**
	 * Makes the calls on this rank's device and checks every part.
	 * @param count elements per part
	 */
	public static void check(HostDevices devices, DeviceCollectives collectives, int rank, int worldSize, int count) {
		new InPlaceCalls(devices, collectives, rank, worldSize, count).check();
	}

	private void check() {
		int last = this.worldSize - 1;
		boolean here = this.rank == last;
		try (DeviceBuffer reduced = parts();
				DeviceBuffer all = parts();
				DeviceBuffer scattered = parts();
				DeviceBuffer gathered = here ? parts() : onePart();
				DeviceBuffer given = here ? parts() : onePart()) {
			this.collectives.reduceInPlace(reduced, ReduceOp.MAX, last);
			this.collectives.allGatherInPlace(all);
			DeviceBuffer own = this.collectives.reduceScatterInPlace(scattered, ReduceOp.SUM);
			this.collectives.gatherInPlace(gathered, last);
			this.collectives.scatterInPlace(given, last);
			for (int part = 0; part < this.worldSize; part++) {
				holds(reduced, part, value(here ? last : this.rank, part));
				holds(all, part, value(part, part));
				if (here) {
					holds(gathered, part, (part == last) ? value(last, last) : value(part, 0));
					holds(given, part, value(last, part));
				}
			}
			holds(own, 0, 50f * this.worldSize * (this.worldSize + 1) + this.rank * this.worldSize);
			if (!here) {
				holds(gathered, 0, value(this.rank, 0));
				holds(given, 0, value(last, this.rank));
			}
		}
	}

	private static float value(int rank, int part) {
		return 100 * (rank + 1) + part;
	}

	private DeviceBuffer parts() {
		return filled(this.worldSize);
	}

	private DeviceBuffer onePart() {
		return filled(1);
	}

	private DeviceBuffer filled(int parts) {
		DeviceBuffer buffer = DeviceBuffer.allocate(this.devices, this.rank, (long) parts * this.count,
				DeviceDataType.FLOAT32);
		for (int index = 0; index < parts * this.count; index++) {
			HostDevices.write(buffer.address() + 4L * index, value(this.rank, index / this.count));
		}
		return buffer;
	}

	private void holds(DeviceBuffer buffer, int part, float expected) {
		for (int index : new int[] { 0, this.count / 2, this.count - 1 }) {
			if (index >= 0 && this.count > 0) {
				assertThat(HostDevices.read(buffer.address() + 4L * (part * this.count + index), 1)[0])
					.isEqualTo(expected);
			}
		}
	}

}
