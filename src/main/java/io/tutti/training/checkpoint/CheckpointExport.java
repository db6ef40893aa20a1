package io.tutti.training.checkpoint;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

import io.tutti.engine.javacpp.NativeLibraryPreparation;
import io.tutti.training.internal.AtomicFile;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.ByteVector;
import org.bytedeco.pytorch.IValue;
import org.bytedeco.pytorch.IValueVector;
import org.bytedeco.pytorch.JitModule;
import org.bytedeco.pytorch.QualifiedName;
import org.bytedeco.pytorch.global.torch;

/**
 * Writes the model of a checkpoint as a file that Python's {@code torch.load} reads: a
 * dictionary of the parameters and buffers by name, for {@code load_state_dict}.
 */
public final class CheckpointExport {

	/** libtorch's Java interface cannot add to a dictionary; a script can. */
	private static final String SCRIPT = """
			def empty(self) -> Dict[str, Tensor]:
			    result: Dict[str, Tensor] = {}
			    return result
			def put(self, tensors: Dict[str, Tensor], name: str, tensor: Tensor) -> Dict[str, Tensor]:
			    tensors[name] = tensor
			    return tensors
			""";

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
			NativeLibraryPreparation.prepare();
			byte[] content;
			try (CheckpointFiles files = new CheckpointFiles(source)) {
				content = pickled(files);
			}
			try {
				AtomicFile.write(file, content);
			}
			catch (IOException ex) {
				throw CheckpointException.notWritten("cannot write " + file + ": " + ex, ex);
			}
			return source;
		}
		catch (IllegalArgumentException | IOException ex) {
			throw CheckpointException.notRead("cannot export checkpoint " + source + ": " + ex.getMessage(), ex);
		}
	}

	private static Path find(Path checkpoint) throws IOException {
		if (!Files.isDirectory(checkpoint)) {
			throw new NoSuchFileException("there is no such directory");
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

	private static byte[] pickled(CheckpointFiles files) throws IOException {
		long bytes = files.model().stream().mapToLong(TensorHeader::bytes).sum();
		if (bytes > Integer.MAX_VALUE / 2) {
			throw new IllegalArgumentException("its model has " + bytes + " bytes, and at most " + Integer.MAX_VALUE / 2
					+ " can be exported; read its safetensors files instead");
		}
		try (PointerScope _ = new PointerScope(); Arena arena = Arena.ofConfined()) {
			JitModule script = new JitModule(new QualifiedName("tutti"));
			script.define(SCRIPT);
			IValue tensors = script.get_method("empty").apply(new IValueVector());
			for (TensorHeader header : files.model()) {
				StoredTensor stored = new StoredTensor(header, arena.allocate(header.bytes(), Long.BYTES));
				files.read(header, stored.data());
				tensors = script.get_method("put")
					.apply(new IValueVector(tensors, new IValue(header.name()), new IValue(stored.view())));
			}
			ByteVector pickled = torch.pickle_save(tensors);
			return pickled.get();
		}
	}

}
