package io.tutti.training.checkpoint;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.tutti.training.internal.Sha256;
import tools.jackson.core.JacksonException;

/**
 * The files of one checkpoint: {@code checkpoint.json}, the model's and the optimizer's
 * tensors in safetensors files of limited size, and the SHA-256 of each file in
 * {@code SHA256SUMS}, which {@code sha256sum -c} checks.
 */
final class CheckpointFiles implements Closeable {

	/** Size of a file above which the next tensor goes to another one. */
	static final long SHARD_BYTES = 2_000_000_000;

	static final String MANIFEST = "checkpoint.json";

	static final String SUMS = "SHA256SUMS";

	private static final String MODEL = "model";

	private static final String OPTIMIZER = "optimizer";

	/** Marks the names of the tensors as those of libtorch. */
	private static final Map<String, String> METADATA = Map.of("format", "pt");

	/** A name that cannot leave the checkpoint's directory. */
	private static final Pattern SHARD = Pattern.compile("(model|optimizer)-\\d{5}-of-\\d{5}\\.safetensors");

	private static final Pattern SUM = Pattern.compile("([0-9a-f]{64})  ([A-Za-z0-9.-]+)");

	/** Far more than any of the two text files needs. */
	private static final long MAX_TEXT_BYTES = 64 << 20;

	private final CheckpointManifest manifest;

	private final List<SafetensorsReader> readers = new ArrayList<>();

	private final Map<TensorHeader, SafetensorsReader> model = new LinkedHashMap<>();

	private final Map<TensorHeader, SafetensorsReader> optimizer = new LinkedHashMap<>();

	/** Opens a checkpoint and compares all of its content with the hashes. */
	CheckpointFiles(Path directory) throws IOException {
		this(directory, () -> {
		});
	}

	/**
	 * Opens a checkpoint and compares all of its content with the hashes.
	 * @param reading called again and again meanwhile
	 * @throws IllegalArgumentException if it is incomplete, damaged or of another
	 * version; the message says which
	 * @throws IOException if it cannot be read
	 */
	CheckpointFiles(Path directory, Runnable reading) throws IOException {
		Map<String, String> sums = sums(directory);
		for (Map.Entry<String, String> sum : sums.entrySet()) {
			Path file = directory.resolve(sum.getKey());
			if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
				throw new IllegalArgumentException("it is incomplete: there is no file " + sum.getKey());
			}
			if (!sha256(file, reading).equals(sum.getValue())) {
				throw new IllegalArgumentException(
						"it is truncated or damaged: the SHA-256 of " + sum.getKey() + " does not match");
			}
		}
		this.manifest = manifest(directory);
		try {
			open(directory, this.manifest.model(), sums, this.model);
			open(directory, this.manifest.optimizerState(), sums, this.optimizer);
		}
		catch (IOException | RuntimeException ex) {
			close();
			throw ex;
		}
	}

	/**
	 * Writes the files of a checkpoint into an empty directory and flushes them.
	 * @param shardBytes size of a file above which the next tensor goes to another one
	 * @param writing called again and again meanwhile
	 */
	static void write(Path directory, JobFingerprint job, Progress progress, String optimizerType,
			List<StoredTensor> modelTensors, List<StoredTensor> optimizerTensors, long shardBytes, Runnable writing)
			throws IOException {
		Map<String, String> sums = new LinkedHashMap<>();
		List<String> modelFiles = writeShards(directory, MODEL, modelTensors, shardBytes, sums, writing);
		List<String> optimizerFiles = writeShards(directory, OPTIMIZER, optimizerTensors, shardBytes, sums, writing);
		Map<String, String> values = new LinkedHashMap<>();
		job.values().forEach((value) -> values.put(value.name(), value.value()));
		byte[] json = SafetensorsFormat.MAPPER.writerWithDefaultPrettyPrinter()
			.writeValueAsBytes(new CheckpointManifest(CheckpointManifest.VERSION, values, progress, optimizerType,
					modelFiles, optimizerFiles));
		MessageDigest digest = Sha256.newDigest();
		digest.update(json);
		sums.put(MANIFEST, Sha256.hex(digest));
		writeAndFlush(directory.resolve(MANIFEST), json);
		StringBuilder text = new StringBuilder();
		sums.forEach((name, sum) -> text.append(sum).append("  ").append(name).append('\n'));
		writeAndFlush(directory.resolve(SUMS), text.toString().getBytes(StandardCharsets.US_ASCII));
	}

	/** The job, the progress and the optimizer's type. */
	CheckpointManifest manifest() {
		return this.manifest;
	}

	/** Fingerprint of the job. */
	JobFingerprint job() {
		return new JobFingerprint(this.manifest.job()
			.entrySet()
			.stream()
			.map((value) -> new JobFingerprint.Value(value.getKey(), value.getValue()))
			.toList());
	}

	/** The model's parameters and buffers. */
	List<TensorHeader> model() {
		return List.copyOf(this.model.keySet());
	}

	/** The optimizer's tensors. */
	List<TensorHeader> optimizer() {
		return List.copyOf(this.optimizer.keySet());
	}

	/** Reads the data of one of the model's tensors. */
	void readModel(TensorHeader header, MemorySegment data) throws IOException {
		this.model.get(header).read(header, data);
	}

	/** Reads the data of one of the optimizer's tensors. */
	void readOptimizer(TensorHeader header, MemorySegment data) throws IOException {
		this.optimizer.get(header).read(header, data);
	}

	@Override
	public void close() throws IOException {
		for (SafetensorsReader reader : this.readers) {
			reader.close();
		}
	}

	private static List<String> writeShards(Path directory, String kind, List<StoredTensor> tensors, long shardBytes,
			Map<String, String> sums, Runnable writing) throws IOException {
		List<List<StoredTensor>> shards = shards(tensors, shardBytes);
		List<String> names = new ArrayList<>();
		for (List<StoredTensor> shard : shards) {
			String name = String.format(Locale.ROOT, "%s-%05d-of-%05d.safetensors", kind, names.size() + 1,
					shards.size());
			sums.put(name, SafetensorsWriter.write(directory.resolve(name), METADATA, shard, writing));
			names.add(name);
		}
		return names;
	}

	private static List<List<StoredTensor>> shards(List<StoredTensor> tensors, long shardBytes) {
		List<List<StoredTensor>> shards = new ArrayList<>();
		long bytes = 0;
		for (StoredTensor tensor : tensors) {
			if (shards.isEmpty() || bytes + tensor.data().byteSize() > shardBytes) {
				shards.add(new ArrayList<>());
				bytes = 0;
			}
			shards.getLast().add(tensor);
			bytes += tensor.data().byteSize();
		}
		return shards;
	}

	private static void writeAndFlush(Path file, byte[] content) throws IOException {
		Files.write(file, content, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, StandardOpenOption.SYNC);
	}

	private static Map<String, String> sums(Path directory) throws IOException {
		Map<String, String> sums = new LinkedHashMap<>();
		for (String line : text(directory.resolve(SUMS)).lines().toList()) {
			Matcher sum = SUM.matcher(line);
			if (!sum.matches() || sums.put(sum.group(2), sum.group(1)) != null) {
				throw new IllegalArgumentException("it is damaged: " + SUMS + " is not a list of hashes");
			}
		}
		if (!sums.containsKey(MANIFEST)) {
			throw new IllegalArgumentException("it is damaged: " + SUMS + " lacks " + MANIFEST);
		}
		return sums;
	}

	private static CheckpointManifest manifest(Path directory) throws IOException {
		try {
			return SafetensorsFormat.MAPPER.readValue(text(directory.resolve(MANIFEST)), CheckpointManifest.class);
		}
		catch (JacksonException ex) {
			Throwable reason = (ex.getCause() instanceof IllegalArgumentException cause) ? cause : ex;
			throw new IllegalArgumentException("its " + MANIFEST + ": " + reason.getMessage(), ex);
		}
	}

	private static String text(Path file) throws IOException {
		if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
			throw new IllegalArgumentException("it is incomplete: there is no file " + file.getFileName());
		}
		if (Files.size(file) > MAX_TEXT_BYTES) {
			throw new IllegalArgumentException(
					"it is damaged: " + file.getFileName() + " has more than " + MAX_TEXT_BYTES + " bytes");
		}
		return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
	}

	private static String sha256(Path file, Runnable reading) throws IOException {
		MessageDigest digest = Sha256.newDigest();
		byte[] piece = new byte[1 << 20];
		try (InputStream input = Files.newInputStream(file)) {
			for (int read = input.read(piece); read >= 0; read = input.read(piece)) {
				digest.update(piece, 0, read);
				reading.run();
			}
		}
		return Sha256.hex(digest);
	}

	private void open(Path directory, List<String> names, Map<String, String> sums,
			Map<TensorHeader, SafetensorsReader> tensors) throws IOException {
		Set<String> known = new HashSet<>();
		for (String name : names) {
			if (!SHARD.matcher(name).matches() || !sums.containsKey(name)) {
				throw new IllegalArgumentException("it is damaged: " + SUMS + " lacks the file '" + name + "'");
			}
			SafetensorsReader reader = new SafetensorsReader(directory.resolve(name));
			this.readers.add(reader);
			for (TensorHeader header : reader.tensors()) {
				if (!known.add(header.name())) {
					throw new IllegalArgumentException("two of its files hold " + header.name());
				}
				tensors.put(header, reader);
			}
		}
	}

}
