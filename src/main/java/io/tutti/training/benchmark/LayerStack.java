package io.tutti.training.benchmark;

import java.util.ArrayList;
import java.util.List;

import org.bytedeco.pytorch.LinearImpl;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * Shape of the benchmark's model: square linear layers with ReLU between them.
 *
 * @param layers number of layers
 * @param width inputs and outputs of each layer
 */
public record LayerStack(int layers, int width) {

	private static final int LAYERS = 10;

	/** A multiple of the vector units' width, where the model is large enough. */
	private static final int MULTIPLE = 64;

	private static final int SMALLEST_WIDTH = 8;

	/**
	 * The shape of ten layers with about so many parameters.
	 * @param parameters from 1000 to 10⁹
	 * @throws IllegalArgumentException outside of this range
	 */
	public static LayerStack ofAbout(double parameters) {
		if (!(parameters >= 1e3 && parameters <= 1e9)) {
			throw new IllegalArgumentException(
					"a model has 0.001 to 1000 million parameters, got " + parameters / 1e6 + " million");
		}
		double width = Math.sqrt(parameters / LAYERS);
		int multiple = (width < MULTIPLE) ? SMALLEST_WIDTH : MULTIPLE;
		return new LayerStack(LAYERS, Math.max(multiple, (int) Math.round(width / multiple) * multiple));
	}

	/** Number of weights and biases. */
	public long parameters() {
		return (long) this.layers * this.width * (this.width + 1L);
	}

	Network network() {
		return new Network(this);
	}

	/** The model, and a forward pass that ends in a loss. */
	static final class Network extends Module {

		private final List<LinearImpl> linear = new ArrayList<>();

		Network(LayerStack shape) {
			for (int layer = 0; layer < shape.layers(); layer++) {
				this.linear.add(register_module("layer" + layer, new LinearImpl(shape.width(), shape.width())));
			}
		}

		/** Mean square of the outputs. */
		Tensor loss(Tensor batch) {
			Tensor values = batch;
			for (LinearImpl layer : this.linear.subList(0, this.linear.size() - 1)) {
				values = torch.relu(layer.forward(values));
			}
			return this.linear.getLast().forward(values).square().mean();
		}

	}

}
