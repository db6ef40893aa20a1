package io.tutti.training.checkpoint;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

import io.tutti.engine.javacpp.NativeLibraryPreparation;
import io.tutti.training.SharesLibtorch;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.Adagrad;
import org.bytedeco.pytorch.AdagradOptions;
import org.bytedeco.pytorch.Adam;
import org.bytedeco.pytorch.AdamOptions;
import org.bytedeco.pytorch.AdamW;
import org.bytedeco.pytorch.AdamWOptions;
import org.bytedeco.pytorch.LinearImpl;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Optimizer;
import org.bytedeco.pytorch.RMSprop;
import org.bytedeco.pytorch.RMSpropOptions;
import org.bytedeco.pytorch.SGD;
import org.bytedeco.pytorch.SGDOptions;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorImpl;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

@Timeout(120)
@SharesLibtorch
class OptimizerTensorsTest {

	@BeforeAll
	static void prepare() {
		NativeLibraryPreparation.prepare();
	}

	private static List<Arguments> optimizers() {
		return List.of(named("sgd", (parameters) -> {
			SGDOptions options = new SGDOptions(0.1);
			options.momentum().put(0.9);
			return new SGD(parameters, options);
		}, "momentum_buffer"), named("plain sgd", (parameters) -> new SGD(parameters, new SGDOptions(0.1))),
				named("adam", (parameters) -> new Adam(parameters, new AdamOptions(0.1)), "step", "exp_avg",
						"exp_avg_sq"),
				named("amsgrad", (parameters) -> {
					AdamOptions options = new AdamOptions(0.1);
					options.amsgrad().put(true);
					return new Adam(parameters, options);
				}, "step", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"),
				named("adamw", (parameters) -> new AdamW(parameters, new AdamWOptions(0.1)), "step", "exp_avg",
						"exp_avg_sq"),
				named("rmsprop", (parameters) -> new RMSprop(parameters, new RMSpropOptions(0.1)), "step",
						"square_avg"),
				named("adagrad", (parameters) -> new Adagrad(parameters, new AdagradOptions(0.1)), "sum"));
	}

	private static Arguments named(String name, Function<TensorVector, Optimizer> factory, String... keys) {
		return Arguments.of(name, factory, List.of(keys));
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("optimizers")
	void aRestoredOptimizerTakesTheSameSteps(String name, Function<TensorVector, Optimizer> factory,
			List<String> keys) {
		try (PointerScope _ = new PointerScope()) {
			LinearImpl first = layer();
			Optimizer optimizer = factory.apply(first.parameters());
			step(first, optimizer);
			step(first, optimizer);
			optimizer.param_groups().get(0).options().set_lr(0.05);
			List<StoredTensor> stored = stored(optimizer, names(first));
			assertThat(stored.stream().map((tensor) -> tensor.header().name()))
				.containsAll(keys.stream().map((key) -> "optimizer." + key + ".weight").toList())
				.containsAll(keys.stream().map((key) -> "optimizer." + key + ".bias").toList())
				.contains("optimizer.group.0.lr");

			LinearImpl second = layer();
			copy(first, second);
			Optimizer restored = factory.apply(second.parameters());
			OptimizerTensors.load(restored, stored, names(second), "cpu");
			assertThat(values(stored(restored, names(second)))).isEqualTo(values(stored));
			for (int count = 0; count < 3; count++) {
				step(first, optimizer);
				step(second, restored);
				assertThat(second.weight().equal(first.weight())).isTrue();
				assertThat(second.bias().equal(first.bias())).isTrue();
			}
		}
	}

	/**
	 * The first save counts the bytes, and a later one is larger by the number of steps.
	 */
	@Test
	void theMemoryOfAnArchiveHoldsEachSave() {
		try (PointerScope _ = new PointerScope();
				OptimizerTensors.ArchiveMemory memory = new OptimizerTensors.ArchiveMemory()) {
			LinearImpl layer = layer();
			Optimizer optimizer = new Adam(layer.parameters(), new AdamOptions(0.1));
			for (int count = 0; count < 300; count++) {
				step(layer, optimizer);
				if (count % 150 == 0 || count == 299) {
					OptimizerTensors.save(optimizer, memory);
					assertThat(memory.content().byteSize()).isEqualTo(OptimizerTensors.archiveBytes(optimizer));
					assertThat(values(OptimizerTensors.read(memory.content(), names(layer))))
						.isEqualTo(values(stored(optimizer, names(layer))));
				}
			}
		}
	}

	@Test
	void stateOfAnUnknownParameterIsRejected() {
		try (PointerScope _ = new PointerScope()) {
			LinearImpl layer = layer();
			Optimizer optimizer = new Adam(layer.parameters(), new AdamOptions(0.1));
			step(layer, optimizer);
			List<StoredTensor> stored = new ArrayList<>(stored(optimizer, names(layer)));
			TensorHeader header = stored.getFirst().header();
			stored.add(new StoredTensor(new TensorHeader("optimizer.exp_avg.other", header.type(), header.shape()),
					stored.getFirst().data()));
			assertThatIllegalArgumentException()
				.isThrownBy(() -> OptimizerTensors.load(optimizer, stored, names(layer), "cpu"))
				.withMessageContaining("no place for optimizer.exp_avg.other");
			stored.removeIf((tensor) -> tensor.header().name().equals("optimizer.group.0.betas"));
			assertThatIllegalArgumentException()
				.isThrownBy(() -> OptimizerTensors.load(optimizer, stored, names(layer), "cpu"))
				.withMessageContaining("there is no optimizer.group.0.betas");
		}
	}

	private static LinearImpl layer() {
		return new LinearImpl(3, 2);
	}

	private static void copy(LinearImpl from, LinearImpl to) {
		try (NoGradGuard _ = new NoGradGuard()) {
			to.weight().copy_(from.weight());
			to.bias().copy_(from.bias());
		}
	}

	private static void step(LinearImpl layer, Optimizer optimizer) {
		optimizer.zero_grad();
		Tensor input = torch.tensor(new float[] { 1, -2, 3, 0.5f, 4, -1 }).view(2, 3);
		layer.forward(input).square().sum().backward();
		optimizer.step();
	}

	private static Map<String, String> names(LinearImpl layer) {
		Map<String, String> names = new LinkedHashMap<>();
		names.put(id(layer.weight()), "weight");
		names.put(id(layer.bias()), "bias");
		return names;
	}

	private static String id(Tensor tensor) {
		try (TensorImpl shared = tensor.unsafeGetTensorImpl()) {
			return Long.toString(shared.address());
		}
	}

	private static List<StoredTensor> stored(Optimizer optimizer, Map<String, String> names) {
		OptimizerTensors.ArchiveMemory memory = new OptimizerTensors.ArchiveMemory();
		OptimizerTensors.save(optimizer, memory);
		return OptimizerTensors.read(memory.content(), names);
	}

	private static Map<String, List<Object>> values(List<StoredTensor> tensors) {
		Map<String, List<Object>> values = new LinkedHashMap<>();
		for (StoredTensor tensor : tensors) {
			byte[] bytes = tensor.data().toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
			values.put(tensor.header().name(), List.of(tensor.header(), java.util.HexFormat.of().formatHex(bytes)));
		}
		return values;
	}

}
