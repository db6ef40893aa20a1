package io.tutti.training.checkpoint;

import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.tutti.engine.spi.Sha256;
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

	private final Manifest manifest;

	private final List<Shard> shards = new ArrayList<>();

	private final Map<TensorHeader, Shard> model = new LinkedHashMap<>();

	private final Map<TensorHeader, Shard> optimizer = new LinkedHashMap<>();

	/** A file of tensors, which is compared with its hash once all of it is read. */
	private record Shard(String name, String sum, SafetensorsReader reader) {

		void read(TensorHeader header, MemorySegment data, Runnable reading) throws IOException {
			this.reader.read(header, data, reading);
			requireUndamaged();
		}

		void requireUndamaged() {
			if (this.reader.isComplete()) {
				requireSum(this.name, this.sum, this.reader.sha256());
			}
		}

	}

	/**
	 * Opens a checkpoint. Compares the manifest with its hash; the tensors are compared
	 * as they are read.
	 * @throws IllegalArgumentException if it is incomplete, damaged or of another
	 * version; the message says which
	 * @throws IOException if it cannot be read
	 */
	CheckpointFiles(Path directory) throws IOException {
		Map<String, String> sums = sums(directory);
		for (String name : sums.keySet()) {
			requireFile(directory.resolve(name));
		}
		this.manifest = manifest(directory, sums.get(MANIFEST));
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
			.writeValueAsBytes(
					new Manifest(Manifest.VERSION, values, progress, optimizerType, modelFiles, optimizerFiles));
		sums.put(MANIFEST, HexFormat.of().formatHex(Sha256.of(json)));
		writeAndFlush(directory.resolve(MANIFEST), json);
		StringBuilder text = new StringBuilder();
		sums.forEach((name, sum) -> text.append(sum).append("  ").append(name).append('\n'));
		writeAndFlush(directory.resolve(SUMS), text.toString().getBytes(StandardCharsets.US_ASCII));
	}

	/** The job, the progress and the optimizer's type. */
	Manifest manifest() {
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

	/**
	 * Reads the data of the next of the model's tensors. Use none of the data before all
	 * of it is read.
	 * @param header the next of {@link #model()}
	 * @param reading called again and again meanwhile
	 * @throws IllegalArgumentException at the last tensor of a file that is damaged
	 */
	void readModel(TensorHeader header, MemorySegment data, Runnable reading) throws IOException {
		this.model.get(header).read(header, data, reading);
	}

	/** Reads the data of the next of the optimizer's tensors in the same way. */
	void readOptimizer(TensorHeader header, MemorySegment data, Runnable reading) throws IOException {
		this.optimizer.get(header).read(header, data, reading);
	}

	@Override
	public void close() throws IOException {
		for (Shard shard : this.shards) {
			shard.reader().close();
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
		String text = new String(content(directory.resolve(SUMS)), StandardCharsets.UTF_8);
		for (String line : text.lines().toList()) {
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

	private static Manifest manifest(Path directory, String sum) throws IOException {
		byte[] json = content(directory.resolve(MANIFEST));
		requireSum(MANIFEST, sum, HexFormat.of().formatHex(Sha256.of(json)));
		try {
			return SafetensorsFormat.MAPPER.readValue(json, Manifest.class);
		}
		catch (JacksonException ex) {
			Throwable reason = (ex.getCause() instanceof IllegalArgumentException cause) ? cause : ex;
			throw new IllegalArgumentException("its " + MANIFEST + ": " + reason.getMessage(), ex);
		}
	}

	private static void requireSum(String name, String expected, String actual) {
		if (!actual.equals(expected)) {
			throw new IllegalArgumentException(
					"it is truncated or damaged: the SHA-256 of " + name + " does not match");
		}
	}

	private static void requireFile(Path file) {
		if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
			throw new IllegalArgumentException("it is incomplete: there is no file " + file.getFileName());
		}
	}

	private static byte[] content(Path file) throws IOException {
		requireFile(file);
		if (Files.size(file) > MAX_TEXT_BYTES) {
			throw new IllegalArgumentException(
					"it is damaged: " + file.getFileName() + " has more than " + MAX_TEXT_BYTES + " bytes");
		}
		return Files.readAllBytes(file);
	}

	private void open(Path directory, List<String> names, Map<String, String> sums, Map<TensorHeader, Shard> tensors)
			throws IOException {
		Set<String> known = new HashSet<>();
		for (String name : names) {
			if (!SHARD.matcher(name).matches() || !sums.containsKey(name)) {
				throw new IllegalArgumentException("it is damaged: " + SUMS + " lacks the file '" + name + "'");
			}
			Shard shard = new Shard(name, sums.get(name), new SafetensorsReader(directory.resolve(name)));
			this.shards.add(shard);
			shard.requireUndamaged();
			for (TensorHeader header : shard.reader().tensors()) {
				if (!known.add(header.name())) {
					throw new IllegalArgumentException("two of its files hold " + header.name());
				}
				tensors.put(header, shard);
			}
		}
	}

	/**
	 * The file {@code checkpoint.json} of a checkpoint.
	 *
	 * @param version version of the layout
	 * @param job names and values of the job's fingerprint
	 * @param progress progress of the job
	 * @param optimizer type of the optimizer, such as {@code SGD}
	 * @param model names of the files with the model's tensors
	 * @param optimizerState names of the files with the optimizer's tensors
	 */
	record Manifest(@JsonProperty(required = true) int version, @JsonProperty(required = true) Map<String, String> job,
			@JsonProperty(required = true) Progress progress, @JsonProperty(required = true) String optimizer,
			@JsonProperty(required = true) List<String> model,
			@JsonProperty(required = true) List<String> optimizerState) {

		/** Version of the layout. */
		static final int VERSION = 2;

		Manifest {
			if (version != VERSION) {
				throw new IllegalArgumentException(
						"its version is " + version + ", this build reads version " + VERSION);
			}
			job = Collections.unmodifiableMap(new LinkedHashMap<>(job));
			model = List.copyOf(model);
			optimizerState = List.copyOf(optimizerState);
		}

	}

}
