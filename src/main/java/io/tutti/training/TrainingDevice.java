package io.tutti.training;

import java.time.Duration;
import java.util.function.IntSupplier;

import io.tutti.BackendUnavailableException;
import io.tutti.CollectiveListener;
import io.tutti.ProcessGroup;
import io.tutti.engine.backend.nccl.CudaDevices;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.device.DeviceCollectives;
import io.tutti.engine.device.HostFallback;
import io.tutti.engine.javacpp.NativeLibraryPreparation;
import org.bytedeco.pytorch.Device;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * The device that one rank of a training job uses.
 */
public final class TrainingDevice {

	/** The property that selects the device. */
	public static final String PROPERTY = "tutti.train.device";

	/** The CPU. */
	public static final TrainingDevice CPU = new TrainingDevice("cpu", null);

	private final String name;

	private final @Nullable DeviceCollectives collectives;

	private TrainingDevice(String name, @Nullable DeviceCollectives collectives) {
		this.name = name;
		this.collectives = collectives;
	}

	/**
	 * Selects the device of a rank.
	 * @param choice what the user asks for
	 * @param group the ranks that train together
	 * @param localRank index of the rank among the ranks of its host
	 * @param fallback whether gradients on a GPU may go through main memory
	 * @param listener receives a warning for each reduction through main memory, and one
	 * if the group can use GPUs but libtorch sees none
	 * @param timeout time limit of a reduction
	 * @return the device
	 * @throws BackendUnavailableException if a GPU is requested and not available
	 */
	public static TrainingDevice choose(DeviceChoice choice, ProcessGroup group, int localRank, HostFallback fallback,
			CollectiveListener listener, Duration timeout) {
		int index;
		try {
			index = index(choice, TrainingDevice::visible, localRank, group.takesDeviceMemory(), fallback);
		}
		catch (BackendUnavailableException ex) {
			throw ex.onRank(group.rank(), group.worldSize());
		}
		if (index < 0) {
			if (choice.kind() == DeviceChoice.Kind.AUTO && group.takesDeviceMemory()) {
				listener.warn("the group supports device memory, but libtorch detects no GPU, so rank " + group.rank()
						+ " computes on the CPU. Put a GPU build of libtorch on the class path, or set " + PROPERTY
						+ " to cuda to fail instead, or to cpu to suppress this warning");
			}
			return CPU;
		}
		return new TrainingDevice("cuda:" + index,
				new DeviceCollectives(group, CudaDevices.runtime(), fallback, listener, timeout));
	}

	/**
	 * Rejects a requested GPU that is not available, before rendezvous.
	 * @param choice what the user asks for
	 * @param assignment this rank
	 * @throws BackendUnavailableException if the GPU is not available
	 */
	public static void requirePresent(DeviceChoice choice, RankAssignment assignment) {
		if (choice.kind() != DeviceChoice.Kind.CUDA) {
			return;
		}
		try {
			present(choice, visible(), assignment.localRank());
		}
		catch (BackendUnavailableException ex) {
			throw ex.onRank(assignment.rank(), assignment.worldSize());
		}
	}

	/** Number of GPUs that libtorch sees; 0 if it was built without GPU support. */
	private static int visible() {
		NativeLibraryPreparation.prepare();
		return torch.cuda_is_available() ? torch.cuda_device_count() : 0;
	}

	/**
	 * Index of the GPU, or -1 for the CPU.
	 * @param visible number of GPUs that libtorch sees, called only if needed
	 * @param groupReachesDevices whether the group's backend supports device memory, and
	 * so uses the device of the local rank
	 */
	static int index(DeviceChoice choice, IntSupplier visible, int localRank, boolean groupReachesDevices,
			HostFallback fallback) {
		return switch (choice.kind()) {
			case CPU -> -1;
			case AUTO -> {
				int gpus = groupReachesDevices ? visible.getAsInt() : 0;
				yield (gpus > 0) ? localRank % gpus : -1;
			}
			case CUDA -> required(choice, visible.getAsInt(), localRank, groupReachesDevices, fallback);
		};
	}

	private static int required(DeviceChoice choice, int gpus, int localRank, boolean groupReachesDevices,
			HostFallback fallback) {
		int index = present(choice, gpus, localRank);
		int own = localRank % gpus;
		if (groupReachesDevices && index != own) {
			throw unavailable(choice,
					"the group's communicator works on device " + own + ", that of local rank " + localRank,
					"Set " + PROPERTY + " to cuda, and choose GPUs with CUDA_VISIBLE_DEVICES");
		}
		if (!groupReachesDevices && !fallback.allowed()) {
			throw unavailable(choice, "the group's backend does not support device memory",
					"Start with the profile nccl," + " or enable staging through host memory with "
							+ HostFallback.PROPERTY + "=true");
		}
		return index;
	}

	/** Index of the GPU, by default that of the local rank. */
	private static int present(DeviceChoice choice, int gpus, int localRank) {
		if (gpus < 1) {
			throw unavailable(choice, "libtorch detects no GPU",
					"Put a GPU build of libtorch on the class path and start where there is a GPU, or set " + PROPERTY
							+ " to cpu");
		}
		int index = (choice.index() == DeviceChoice.BY_LOCAL_RANK) ? localRank % gpus : choice.index();
		if (index >= gpus) {
			throw unavailable(choice, "libtorch detects the GPUs 0.." + (gpus - 1),
					"Set " + PROPERTY + " to one of them, or to cuda for the one of the local rank");
		}
		return index;
	}

	private static BackendUnavailableException unavailable(DeviceChoice choice, String problem, String action) {
		return new BackendUnavailableException("cuda", PROPERTY + "=" + choice + ", but " + problem, action);
	}

	/**
	 * {@return collectives for gradients on a GPU; {@code null} for the CPU}
	 */
	public @Nullable DeviceCollectives collectives() {
		return this.collectives;
	}

	/**
	 * Moves a model to this device. Its parameters stay the same objects.
	 * @param module the model; the caller keeps ownership
	 */
	public void take(Module module) {
		if (this.collectives != null) {
			try (Device device = open()) {
				module.to(device, false);
			}
		}
	}

	/**
	 * Copies a tensor to a GPU and closes the original; on the CPU returns the tensor
	 * itself.
	 * @param tensor a tensor in main memory; not to be used afterwards
	 * @return the tensor on this device
	 */
	public Tensor take(Tensor tensor) {
		if (this.collectives == null) {
			return tensor;
		}
		try (tensor; Device device = open()) {
			return tensor.to(device, tensor.scalar_type());
		}
	}

	/** The libtorch device, which the caller must close. */
	Device open() {
		return new Device(this.name);
	}

	/**
	 * {@return {@code cpu} or {@code cuda}}
	 */
	public String kind() {
		return (this.collectives != null) ? "cuda" : "cpu";
	}

	/** Such as {@code cpu} or {@code cuda:1}. */
	@Override
	public String toString() {
		return this.name;
	}

}
