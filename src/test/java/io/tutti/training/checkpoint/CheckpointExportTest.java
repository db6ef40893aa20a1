package io.tutti.training.checkpoint;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

import io.tutti.ExitCode;
import io.tutti.engine.javacpp.NativeLibraryPreparation;
import io.tutti.training.SharesLibtorch;
import io.tutti.training.internal.TensorMemory;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.ByteVector;
import org.bytedeco.pytorch.GenericDict;
import org.bytedeco.pytorch.IValue;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

@Timeout(60)
@SharesLibtorch
class CheckpointExportTest {

	private static final StoredTensor WEIGHT = new StoredTensor(
			new TensorHeader("layer.weight", ElementType.U8, List.of(2L, 3L)),
			MemorySegment.ofArray(new byte[] { 1, 2, 3, 4, 5, 6 }));

	private static final StoredTensor STEPS = new StoredTensor(new TensorHeader("steps", ElementType.I64, List.of()),
			MemorySegment.ofArray(new byte[] { 9, 0, 0, 0, 0, 0, 0, 0 }));

	private static final Runnable IGNORED = () -> {
	};

	/** Python's unpickler reads them, that of the C++ library does not. */
	private static final Set<ElementType> LATER_TYPES = Set.of(ElementType.U16, ElementType.U32, ElementType.U64);

	@TempDir
	private Path directory;

	@Test
	void theNewestModelIsADictionaryOfItsTensors() throws Exception {
		NativeLibraryPreparation.prepare();
		Path run = this.directory.resolve("run");
		try (CheckpointDirectory checkpoints = new CheckpointDirectory(run)) {
			add(checkpoints, 3, List.of(STEPS));
			add(checkpoints, 12, List.of(WEIGHT, STEPS));
		}
		Path file = this.directory.resolve("model.pt");
		assertThat(CheckpointExport.write(run, file)).isEqualTo(run.resolve("step-00000012"));
		try (PointerScope _ = new PointerScope()) {
			GenericDict tensors = torch.pickle_load(new ByteVector(Files.readAllBytes(file))).toGenericDict();
			assertThat(tensors.size()).isEqualTo(2);
			Tensor weight = tensors.at(new IValue("layer.weight")).toTensor();
			assertThat(TensorMemory.shape(weight)).isEqualTo("2x3");
			assertThat(TensorMemory.of(weight).toArray(ValueLayout.JAVA_BYTE)).containsExactly(1, 2, 3, 4, 5, 6);
			assertThat(tensors.at(new IValue("steps")).toTensor().item_long()).isEqualTo(9);
		}
		assertThat(CheckpointExport.write(run.resolve("step-00000003"), file)).hasFileName("step-00000003");
	}

	@Test
	void anExportedTensorHasTheTypeAndShapeOfTheCheckpoint() throws Exception {
		NativeLibraryPreparation.prepare();
		List<StoredTensor> tensors = Arrays.stream(ElementType.values())
			.filter((type) -> !LATER_TYPES.contains(type))
			.map((type) -> new TensorHeader("größe." + type, type, List.of(2L, 0L, 1L)))
			.map((header) -> new StoredTensor(header, MemorySegment.ofArray(new byte[0])))
			.toList();
		Path run = this.directory.resolve("run");
		try (CheckpointDirectory checkpoints = new CheckpointDirectory(run)) {
			add(checkpoints, 3, tensors);
		}
		Path file = this.directory.resolve("model.pt");
		CheckpointExport.write(run, file);
		try (PointerScope _ = new PointerScope()) {
			GenericDict read = torch.pickle_load(new ByteVector(Files.readAllBytes(file))).toGenericDict();
			assertThat(read.size()).isEqualTo(tensors.size());
			for (StoredTensor stored : tensors) {
				Tensor tensor = read.at(new IValue(stored.header().name())).toTensor();
				assertThat(TensorMemory.shape(tensor)).isEqualTo("2x0x1");
				assertThat(ElementType.of("read", tensor)).isEqualTo(stored.header().type());
			}
		}
	}

	@Test
	void everyRecordOfAnExportBeginsAtAMultipleOf64Bytes() throws Exception {
		Path run = this.directory.resolve("run");
		try (CheckpointDirectory checkpoints = new CheckpointDirectory(run)) {
			add(checkpoints, 3, List.of(WEIGHT, STEPS));
		}
		Path file = this.directory.resolve("model.pt");
		CheckpointExport.write(run, file);
		byte[] archive = Files.readAllBytes(file);
		CheckpointExport.write(run, file);
		assertThat(file).hasBinaryContent(archive);
		try (ZipFile records = new ZipFile(file.toFile())) {
			assertThat(records.size()).isEqualTo(5);
			assertThat(records.getEntry("archive/data/0").getMethod()).isEqualTo(ZipEntry.STORED);
		}
		int data = indexOf(archive, new byte[] { 1, 2, 3, 4, 5, 6 });
		assertThat(data).isPositive();
		assertThat(data % 64).isZero();
	}

	private static int indexOf(byte[] all, byte[] part) {
		return IntStream.range(0, all.length - part.length)
			.filter((from) -> Arrays.equals(all, from, from + part.length, part, 0, part.length))
			.findFirst()
			.orElse(-1);
	}

	@Test
	void aDamagedOrMissingCheckpointIsNotExported() throws Exception {
		Path run = this.directory.resolve("run");
		Path file = this.directory.resolve("model.pt");
		assertRejected(run, file, "there is no such directory");
		try (CheckpointDirectory checkpoints = new CheckpointDirectory(run)) {
			assertRejected(run, file, "it holds no checkpoint");
			add(checkpoints, 3, List.of(STEPS));
		}
		Path shard = run.resolve("step-00000003").resolve("model-00001-of-00001.safetensors");
		assertThat(shard).exists();
		assertRejected(run, shard, "the file would be in a checkpoint");
		assertRejected(run, Files.createSymbolicLink(this.directory.resolve("link.pt"), shard),
				"the file would be in a checkpoint");
		byte[] content = Files.readAllBytes(shard);
		content[content.length - 1] ^= 1;
		Files.write(shard, content);
		assertRejected(run, file, "the SHA-256 of model-00001-of-00001.safetensors does not match");
		Files.writeString(run.resolve("step-00000003").resolve(CheckpointFiles.MANIFEST), "{}");
		assertRejected(run, file, "the SHA-256 of checkpoint.json does not match");
		assertThat(file).doesNotExist();
	}

	/** As another process or a faulty disk may change it. */
	@Test
	void bytesThatChangeAfterTheCheckpointWasOpenedAreNoticed() throws Exception {
		Path run = this.directory.resolve("run");
		try (CheckpointDirectory checkpoints = new CheckpointDirectory(run)) {
			add(checkpoints, 3, List.of(WEIGHT, STEPS));
		}
		Path checkpoint = run.resolve("step-00000003");
		Path shard = checkpoint.resolve("model-00001-of-00001.safetensors");
		try (CheckpointFiles files = new CheckpointFiles(checkpoint); Arena arena = Arena.ofConfined()) {
			byte[] content = Files.readAllBytes(shard);
			content[content.length - 1] ^= 1;
			Files.write(shard, content);
			TensorHeader first = files.model().getFirst();
			TensorHeader last = files.model().getLast();
			files.readModel(first, arena.allocate(first.bytes()), IGNORED);
			assertThatIllegalArgumentException()
				.isThrownBy(() -> files.readModel(last, arena.allocate(last.bytes()), IGNORED))
				.withMessageContaining("the SHA-256 of " + shard.getFileName() + " does not match");
		}
	}

	@Test
	void aFileThatCannotBeWrittenIsABadArgument() throws Exception {
		Path run = this.directory.resolve("run");
		try (CheckpointDirectory checkpoints = new CheckpointDirectory(run)) {
			add(checkpoints, 3, List.of(STEPS));
		}
		assertRejected(run, this.directory.resolve("none/model.pt"), "there is no directory");
		Path into = Files.createSymbolicLink(this.directory.resolve("none.pt"),
				this.directory.resolve("none/model.pt"));
		assertRejected(run, into, "there is no directory " + this.directory.resolve("none"));
		Path entry = run.resolve("step-00000003").resolve("new.pt");
		assertRejected(run, Files.createSymbolicLink(this.directory.resolve("new.pt"), entry),
				"the file would be in a checkpoint");
		assertRejected(run, this.directory, "is a directory");
		assertRejected(run, Path.of("/"), "is a directory");
	}

	@Test
	void shardsHaveALimitedSizeAndHoldAllTensors() throws Exception {
		Path shards = Files.createDirectory(this.directory.resolve("shards"));
		AtomicInteger calls = new AtomicInteger();
		CheckpointFiles.write(shards, new JobFingerprint(List.of()), Progress.NONE, "SGD", List.of(WEIGHT, STEPS),
				List.of(), 8, calls::incrementAndGet);
		assertThat(calls).as("one for each header and each tensor").hasValue(4);
		assertThat(shards).isDirectoryContaining("glob:**/model-00002-of-00002.safetensors");
		try (CheckpointFiles files = new CheckpointFiles(shards)) {
			assertThat(files.model()).containsExactlyInAnyOrder(WEIGHT.header(), STEPS.header());
			assertThat(files.optimizer()).isEmpty();
		}
	}

	private static void add(CheckpointDirectory checkpoints, long step, List<StoredTensor> model) throws Exception {
		checkpoints.add(step, (path) -> CheckpointFiles.write(path, new JobFingerprint(List.of()),
				new Progress(step, 0, 0), "SGD", model, List.of(), CheckpointFiles.SHARD_BYTES, () -> {
				}));
	}

	private static void assertRejected(Path checkpoint, Path file, String reason) {
		assertThatExceptionOfType(CheckpointException.class).isThrownBy(() -> CheckpointExport.write(checkpoint, file))
			.satisfies((ex) -> assertThat(ex.exitCode()).isEqualTo(ExitCode.BAD_CONFIGURATION))
			.withMessageContaining("cannot export checkpoint")
			.withMessageContaining(reason);
	}

}
