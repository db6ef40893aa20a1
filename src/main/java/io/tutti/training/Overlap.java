package io.tutti.training;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import io.tutti.ProcessGroup;
import io.tutti.training.internal.TextGather;

/**
 * Whether gradients are reduced while the backward pass continues. Does not change the
 * results or the order of the reductions.
 */
public enum Overlap {

	/**
	 * If each rank on this host has a core for the worker thread besides libtorch's
	 * threads: a worker that competes with the computation makes a step slower.
	 */
	AUTOMATIC,
	/** A bucket is reduced as soon as its gradients are complete. */
	ALWAYS,
	/**
	 * All buckets are reduced in {@link DistributedDataParallel#synchronizeGradients()}.
	 * Any number of backward passes per step accumulate.
	 */
	NEVER;

	private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

	private static final Path HOST_NAME = Path.of("/proc/sys/kernel/hostname");

	/**
	 * Whether gradients are reduced during the backward pass, the same on every rank. A
	 * collective call if the choice is automatic.
	 */
	boolean isUsed(ProcessGroup group, GradientMemory place) {
		if (this != AUTOMATIC) {
			return this == ALWAYS;
		}
		String host = host();
		long ranksOnHost = TextGather.allGather(group, host).stream().filter(host::equals).count();
		int coresPerRank = (int) (Runtime.getRuntime().availableProcessors() / ranksOnHost);
		String own = Boolean.toString(group.worldSize() > 1 && place.overlaps(coresPerRank));
		return TextGather.allGather(group, own).stream().allMatch(Boolean::parseBoolean);
	}

	/**
	 * A name of this host. Containers of one machine have names of their own, since each
	 * has its own limit of cores.
	 */
	private static String host() {
		try {
			return Files.readString(BOOT_ID).strip() + " " + Files.readString(HOST_NAME).strip();
		}
		catch (IOException ex) {
			return "process " + ProcessHandle.current().pid();
		}
	}

}
