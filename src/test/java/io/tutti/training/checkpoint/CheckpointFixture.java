package io.tutti.training.checkpoint;

import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.bytedeco.pytorch.Optimizer;

/**
 * Shows tests of other packages what a job's checkpoint directory holds.
 */
public final class CheckpointFixture {

	/** Name of the manifest in a checkpoint. */
	public static final String MANIFEST = CheckpointFiles.MANIFEST;

	/** Name of the file of hashes in a checkpoint. */
	public static final String SUMS = CheckpointFiles.SUMS;

	private CheckpointFixture() {
	}

	/** The steps of the checkpoints, newest first. */
	public static List<Long> steps(Path directory) throws IOException {
		return CheckpointDirectory.list(directory).stream().map(CheckpointDirectory.Entry::step).toList();
	}

	/** The checkpoints, newest first. */
	public static List<Path> list(Path directory) throws IOException {
		return CheckpointDirectory.list(directory).stream().map(CheckpointDirectory.Entry::path).toList();
	}

	/** Locks the directory as a job does. */
	public static Closeable lock(Path directory) throws IOException {
		return new CheckpointDirectory(directory)::close;
	}

	/** The values of a checkpoint's float32 model, tensor by tensor. */
	public static List<float[]> values(Path checkpoint) throws IOException {
		List<float[]> values = new ArrayList<>();
		try (CheckpointFiles kept = new CheckpointFiles(checkpoint); Arena arena = Arena.ofConfined()) {
			for (TensorHeader header : kept.model()) {
				MemorySegment data = arena.allocate(header.bytes());
				kept.readModel(header, data, () -> {
				});
				values.add(data.toArray(ValueLayout.JAVA_FLOAT_UNALIGNED));
			}
		}
		return values;
	}

	/** Size of an optimizer's state in libtorch's archive. */
	public static int archiveBytes(Optimizer optimizer) {
		return Math.toIntExact(OptimizerTensors.archiveBytes(optimizer));
	}

}
