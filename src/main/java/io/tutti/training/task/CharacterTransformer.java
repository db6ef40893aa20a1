package io.tutti.training.task;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.OptionalDouble;

import io.tutti.engine.RegularFile;
import io.tutti.engine.spi.Sha256;
import io.tutti.training.Batch;
import io.tutti.training.SampleCounts;
import io.tutti.training.TaskOption;
import io.tutti.training.TrainingDevice;
import io.tutti.training.TrainingStep;
import io.tutti.training.TrainingTask;
import io.tutti.training.table.MalformedDataException;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.Positive;
import org.bytedeco.pytorch.AdamW;
import org.bytedeco.pytorch.AdamWOptions;
import org.bytedeco.pytorch.CrossEntropyLossOptions;
import org.bytedeco.pytorch.DoubleOptional;
import org.bytedeco.pytorch.EmbeddingImpl;
import org.bytedeco.pytorch.GeneratorOptional;
import org.bytedeco.pytorch.LayerNormImpl;
import org.bytedeco.pytorch.LinearImpl;
import org.bytedeco.pytorch.LongOptional;
import org.bytedeco.pytorch.LongVector;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Optimizer;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;
import org.bytedeco.pytorch.kNone;
import org.jspecify.annotations.Nullable;

/**
 * Learns to continue a text, one character at a time, with a small transformer (Vaswani
 * et al., "Attention Is All You Need", 2017; layers in the order of GPT-2). The embedding
 * of the characters is also the output layer, so that its tensor is registered twice. The
 * first nine tenths of the text are for the training. A sample is a piece of the text,
 * and its score the share of its characters that the model predicts from those before.
 */
public final class CharacterTransformer implements TrainingTask {

	/** Chapter 1 of Genesis in the King James Version of 1611, in later spelling. */
	private static final String TEXT = "genesis.txt";

	/** Far more than such a model can learn. */
	private static final long MAX_TEXT_BYTES = 1L << 28;

	private static final double TRAINING_PART = 0.9;

	/** Steps until the full learning rate, without which the first steps diverge. */
	private static final int WARM_UP_STEPS = 50;

	private final Options options;

	private String textHash = "";

	private @Nullable Vocabulary vocabulary;

	private @Nullable Tensor training;

	private @Nullable Tensor test;

	private @Nullable Network network;

	private @Nullable AdamW optimizer;

	/**
	 * Options of the task.
	 *
	 * @param text text to learn, in UTF-8; {@code null} for the bundled one
	 * @param context characters of a sample, from 2 to 1024
	 * @param width numbers per character inside the model, a multiple of {@code heads}
	 * @param heads attention heads of a layer
	 * @param layers number of layers, from 1 to 48
	 * @param stride characters between the starts of two training samples
	 * @param rate learning rate of AdamW after the first {@value #WARM_UP_STEPS} steps
	 */
	public record Options(
			@TaskOption(value = "Text to learn, in UTF-8 (default: the first chapter of Genesis)",
					optional = true) @Nullable Path text,
			@TaskOption(value = "Characters of a sample", defaultValue = "32") @Min(2) @Max(1024) int context,
			@TaskOption(value = "Numbers per character inside the model, a multiple of --heads",
					defaultValue = "64") @Min(1) @Max(4096) int width,
			@TaskOption(value = "Attention heads of a layer", defaultValue = "4") @Min(1) @Max(256) int heads,
			@TaskOption(value = "Layers", defaultValue = "2") @Min(1) @Max(48) int layers,
			@TaskOption(value = "Characters between the starts of two training samples",
					defaultValue = "8") @Min(1) int stride,
			@TaskOption(value = "Learning rate of AdamW after the first 50 steps",
					defaultValue = "0.002") @Positive @Max(1) double rate) {

		/** Checks that the width can be divided among the heads. */
		public Options {
			if (heads > 0 && width % heads != 0) {
				throw new IllegalArgumentException(
						"--width must be a multiple of --heads, got width " + width + " and heads " + heads);
			}
		}

	}

	/**
	 * Creates the task without loading anything.
	 * @param options options of the task
	 */
	public CharacterTransformer(Options options) {
		this.options = options;
		String problem = (options.text() != null) ? RegularFile.problem(options.text(), MAX_TEXT_BYTES) : null;
		if (problem != null) {
			throw new IllegalArgumentException("--text: " + options.text() + " cannot be read: " + problem);
		}
	}

	@Override
	public SampleCounts load(long seed, TrainingDevice device) {
		String text = read();
		this.vocabulary = Vocabulary.of(text);
		this.textHash = HexFormat.of().formatHex(Sha256.of(text.getBytes(StandardCharsets.UTF_8)));
		int cut = (int) (text.length() * TRAINING_PART);
		this.training = device.take(pieces(text.substring(0, cut), this.options.stride()));
		this.test = device.take(pieces(text.substring(cut), this.options.context()));
		return new SampleCounts((int) this.training.size(0), (int) this.test.size(0));
	}

	private String read() {
		try {
			if (this.options.text() != null) {
				return RegularFile.read(this.options.text(), MAX_TEXT_BYTES);
			}
			try (InputStream stream = CharacterTransformer.class.getResourceAsStream(TEXT)) {
				return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException("cannot read the text: " + ex.getMessage(), ex);
		}
	}

	/** Pieces of one character more than the context, as pieces x characters. */
	private Tensor pieces(String text, int stride) {
		int length = this.options.context() + 1;
		if (text.length() < length) {
			throw new MalformedDataException("a part of the text has " + text.length() + " characters, but --context "
					+ this.options.context() + " needs " + length + "; give a longer text or a shorter context");
		}
		int count = (text.length() - length) / stride + 1;
		if ((long) count * length > Integer.MAX_VALUE) {
			throw new MalformedDataException(
					"the text has " + count + " samples of " + length + " characters, more than " + Integer.MAX_VALUE
							+ " characters together; give a larger --stride or a shorter text");
		}
		long[] codes = new long[count * length];
		for (int index = 0; index < codes.length; index++) {
			codes[index] = this.vocabulary.code(text.charAt(index / length * stride + index % length));
		}
		try (Tensor flat = torch.tensor(codes)) {
			return flat.view(count, length);
		}
	}

	@Override
	public Map<String, String> identity() {
		return Map.of("task", "character transformer 1", "text", this.textHash, "options",
				this.options.context() + " " + this.options.width() + " " + this.options.heads() + " "
						+ this.options.layers() + " " + this.options.stride() + " " + this.options.rate());
	}

	@Override
	public Module model() {
		this.network = new Network(this.vocabulary.size(), this.options);
		return this.network;
	}

	@Override
	public Optimizer optimizer(TensorVector parameters) {
		this.optimizer = new AdamW(parameters, new AdamWOptions(this.options.rate()));
		return this.optimizer;
	}

	@Override
	public OptionalDouble learningRate(TrainingStep step) {
		return OptionalDouble.of(this.options.rate() * Math.min(1, (step.step() + 1.0) / WARM_UP_STEPS));
	}

	/** The mean loss of the characters of each piece. */
	@Override
	public Tensor losses(Batch batch) {
		CrossEntropyLossOptions each = new CrossEntropyLossOptions();
		each.reduction().put(new kNone());
		Tensor pieces = batch.of(this.training);
		Tensor scores = this.network.forward(given(pieces));
		return torch.cross_entropy(scores.flatten(0, 1), wanted(pieces).flatten(0, 1), each)
			.view(batch.size(), this.options.context())
			.mean(1);
	}

	/** The share of the characters of each piece that are predicted correctly. */
	@Override
	public Tensor scores(Batch batch) {
		Tensor pieces = batch.of(this.test);
		Tensor predicted = this.network.forward(given(pieces)).argmax(new LongOptional(2), false);
		return predicted.eq(wanted(pieces)).to(torch.ScalarType.Float).mean(1);
	}

	private Tensor given(Tensor pieces) {
		return pieces.narrow(1, 0, this.options.context());
	}

	private Tensor wanted(Tensor pieces) {
		return pieces.narrow(1, 1, this.options.context());
	}

	@Override
	public void close() {
		try (Tensor _ = this.test; Tensor _ = this.training; Network _ = this.network; AdamW _ = this.optimizer) {
			// Closes what exists.
		}
	}

	/**
	 * The characters of a text in the order of their codes.
	 */
	private record Vocabulary(String characters) {

		static Vocabulary of(String text) {
			StringBuilder characters = new StringBuilder();
			text.chars().distinct().sorted().forEach((character) -> characters.append((char) character));
			return new Vocabulary(characters.toString());
		}

		int size() {
			return this.characters.length();
		}

		int code(char character) {
			return this.characters.indexOf(character);
		}

	}

	/**
	 * The model: from codes of pieces x characters to scores of pieces x characters x
	 * vocabulary, for the character that follows each.
	 */
	private static final class Network extends Module {

		/** Small, since the embedding is also the output layer. */
		private static final double EMBEDDING_DEVIATION = 0.05;

		private final EmbeddingImpl characters;

		private final EmbeddingImpl positions;

		private final Layer[] layers;

		private final LayerNormImpl norm;

		private final Tensor places;

		Network(int vocabulary, Options options) {
			this.characters = register_module("characters", new EmbeddingImpl(vocabulary, options.width()));
			this.positions = register_module("positions", new EmbeddingImpl(options.context(), options.width()));
			this.layers = new Layer[options.layers()];
			for (int index = 0; index < this.layers.length; index++) {
				this.layers[index] = register_module("layer" + index, new Layer(options.width(), options.heads()));
			}
			this.norm = register_module("norm", norm(options.width()));
			register_parameter("output", this.characters.weight());
			this.places = places(options.context());
			register_buffer("places", this.places);
			try (NoGradGuard _ = new NoGradGuard(); GeneratorOptional generator = new GeneratorOptional()) {
				this.characters.weight().normal_(0, EMBEDDING_DEVIATION, generator);
				this.positions.weight().normal_(0, EMBEDDING_DEVIATION, generator);
			}
		}

		/** The vector's constructor for one number would take it as its size. */
		static LayerNormImpl norm(int width) {
			return new LayerNormImpl(new LongVector(new long[] { width }));
		}

		private static Tensor places(int count) {
			long[] places = new long[count];
			Arrays.setAll(places, (place) -> place);
			return torch.tensor(places);
		}

		Tensor forward(Tensor codes) {
			Tensor values = this.characters.forward(codes).add(this.positions.forward(this.places));
			for (Layer layer : this.layers) {
				values = layer.forward(values);
			}
			return torch.linear(this.norm.forward(values), this.characters.weight());
		}

	}

	/**
	 * Self-attention to the characters before, and a network on each character.
	 */
	private static final class Layer extends Module {

		private static final int WIDER = 4;

		private final int heads;

		private final LayerNormImpl attentionNorm;

		private final LinearImpl queriesKeysValues;

		private final LinearImpl attended;

		private final LayerNormImpl innerNorm;

		private final LinearImpl inner;

		private final LinearImpl outer;

		Layer(int width, int heads) {
			this.heads = heads;
			this.attentionNorm = register_module("attention_norm", Network.norm(width));
			this.queriesKeysValues = register_module("queries_keys_values", new LinearImpl(width, 3L * width));
			this.attended = register_module("attended", new LinearImpl(width, width));
			this.innerNorm = register_module("inner_norm", Network.norm(width));
			this.inner = register_module("inner", new LinearImpl(width, (long) WIDER * width));
			this.outer = register_module("outer", new LinearImpl((long) WIDER * width, width));
		}

		Tensor forward(Tensor values) {
			Tensor seen = values.add(this.attended.forward(attention(this.attentionNorm.forward(values))));
			return seen.add(this.outer.forward(torch.gelu(this.inner.forward(this.innerNorm.forward(seen)))));
		}

		private Tensor attention(Tensor values) {
			long pieces = values.size(0);
			long length = values.size(1);
			long width = values.size(2);
			Tensor all = this.queriesKeysValues.forward(values)
				.view(pieces, length, 3, this.heads, width / this.heads)
				.permute(2, 0, 3, 1, 4);
			Tensor seen = torch.scaled_dot_product_attention(all.select(0, 0), all.select(0, 1), all.select(0, 2),
					new TensorOptional(), 0, true, new DoubleOptional(), false);
			return seen.transpose(1, 2).reshape(pieces, length, width);
		}

	}

}
