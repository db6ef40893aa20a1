package com.acme;

import java.util.Map;

import io.tutti.training.*;
import jakarta.validation.constraints.*;
import org.bytedeco.pytorch.*;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.global.torch;

/** Learns the sine. */
public final class Fit implements TrainingTask {

    private final Options options;

    private Tensor x;

    private Tensor y;

    private Net net;

    /** The options on the command line: --hidden and --rate. */
    public record Options(
            @TaskOption(value = "Hidden units", defaultValue = "32") @Min(1) @Max(1000) int hidden,
            @TaskOption(value = "Learning rate of Adam", defaultValue = "0.01") @Positive double rate) {
    }

    public Fit(Options options) {
        this.options = options;
    }

    /** Samples 0 to 999 are for the training, 1000 to 1199 for the test. */
    public SampleCounts load(long seed, TrainingDevice device) {
        float[] points = new float[1200];
        var random = new java.util.Random(seed);
        for (int sample = 0; sample < points.length; sample++) {
            points[sample] = 6 * random.nextFloat();
        }
        this.x = device.take(torch.tensor(points).view(-1, 1));
        this.y = torch.sin(this.x);
        return new SampleCounts(1000, 200);
    }

    /** All ranks and the checkpoint must agree in these. */
    public Map<String, String> identity() {
        return Map.of("task", "fit", "options", this.options.toString());
    }

    public Module model() {
        this.net = new Net(this.options.hidden());
        return this.net;
    }

    public Optimizer optimizer(TensorVector parameters) {
        return new Adam(parameters, new AdamOptions(this.options.rate()));
    }

    /** One loss per sample, not their mean. */
    public Tensor losses(Batch batch) {
        Tensor difference = this.net.forward(batch.of(this.x)).sub(batch.of(this.y));
        return difference.square().view(-1);
    }

    /** The metric of each test sample. */
    public Tensor scores(Batch batch) {
        Tensor later = batch.indices().add(new Scalar(1000));
        return this.net.forward(this.x.index_select(0, later)).sub(this.y.index_select(0, later)).square().view(-1);
    }

    public TestMetric metric() {
        return TestMetric.LOSS;
    }

    static class Net extends Module {

        final LinearImpl hidden;

        final LinearImpl output;

        Net(int units) {
            this.hidden = register_module("hidden", new LinearImpl(1, units));
            this.output = register_module("output", new LinearImpl(units, 1));
        }

        Tensor forward(Tensor x) {
            return this.output.forward(torch.tanh(this.hidden.forward(x)));
        }

    }

}
