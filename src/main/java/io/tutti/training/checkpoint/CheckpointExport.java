package io.tutti.training.checkpoint;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;

import io.tutti.ExitCode;
import io.tutti.engine.FailureReason;
import io.tutti.training.internal.AtomicFile;

/**
 * Writes the model of a checkpoint as a file that Python's {@code torch.load} reads: a
 * dictionary of the parameters and buffers by name, for {@code load_state_dict}.
 */
public final class CheckpointExport {

	private CheckpointExport() {
	}

	/**
	 * Exports a model.
	 * @param checkpoint directory of a checkpoint, or of a job's checkpoints, of which
	 * the newest is exported
	 * @param file the file to write; an existing one is replaced when the new one is
	 * complete
	 * @return directory of the exported checkpoint
	 * @throws CheckpointException if the checkpoint cannot be read or the file cannot be
	 * written; the message says why
	 */
	public static Path write(Path checkpoint, Path file) {
		Path source = checkpoint;
		try {
			source = find(checkpoint);
			requireUsable(file);
			try (CheckpointFiles files = new CheckpointFiles(source)) {
				AtomicFile.write(file, (stream) -> {
					try (TorchArchive archive = new TorchArchive(stream)) {
						write(files, archive);
					}
				});
			}
			return source;
		}
		catch (IllegalArgumentException ex) {
			throw CheckpointException.onThisRank(ExitCode.BAD_CONFIGURATION,
					"cannot export checkpoint " + source + ": " + ex.getMessage(), ex);
		}
		catch (IOException ex) {
			throw CheckpointException.onThisRank("cannot export checkpoint " + source + " to " + file + ": "
					+ FailureReason.of(ex) + "; check the checkpoint, free space or give another file", ex);
		}
	}

	private static void requireUsable(Path file) throws IOException {
		if (Files.isDirectory(file)) {
			throw new IllegalArgumentException("the file " + file + " is a directory; give the name of a file in it");
		}
		try {
			if (Files.exists(AtomicFile.target(file).resolveSibling(CheckpointFiles.MANIFEST))) {
				throw new IllegalArgumentException("the file would be in a checkpoint");
			}
		}
		catch (NoSuchFileException ex) {
			throw new IllegalArgumentException(
					"there is no directory " + ex.getFile() + " for the file; create it, or give another file", ex);
		}
	}

	private static Path find(Path checkpoint) throws IOException {
		if (!Files.isDirectory(checkpoint)) {
			throw new IllegalArgumentException("there is no such directory");
		}
		if (Files.exists(checkpoint.resolve(CheckpointFiles.MANIFEST))) {
			return checkpoint;
		}
		return CheckpointDirectory.list(checkpoint)
			.stream()
			.findFirst()
			.map(CheckpointDirectory.Entry::path)
			.orElseThrow(() -> new IllegalArgumentException(
					"it holds no checkpoint; give a directory step-… or the directory that holds them"));
	}

	/** Holds one tensor at a time in memory. */
	private static void write(CheckpointFiles files, TorchArchive archive) throws IOException {
		List<TensorHeader> model = files.model();
		archive.add("data.pkl", MemorySegment.ofArray(StateDictPickle.of(model)));
		archive.add("byteorder", text("little"));
		for (int index = 0; index < model.size(); index++) {
			TensorHeader header = model.get(index);
			try (Arena arena = Arena.ofConfined()) {
				MemorySegment data = arena.allocate(header.bytes(), Long.BYTES);
				files.readModel(header, data, () -> {
				});
				archive.add("data/" + index, data);
			}
		}
		archive.add("version", text("3\n"));
	}

	private static MemorySegment text(String text) {
		return MemorySegment.ofArray(text.getBytes(StandardCharsets.US_ASCII));
	}

}
