package io.tutti.service.metrics;

import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.tutti.service.recorder.TrainingProgress;
import io.tutti.service.recorder.TrainingWatch;
import io.tutti.training.job.StepTimes;
import org.springframework.beans.factory.ObjectProvider;

/**
 * Meters of this process's training job: progress, and where the time of its steps goes.
 */
final class TrainingMetrics implements MeterBinder {

	private final ObjectProvider<TrainingWatch> training;

	TrainingMetrics(ObjectProvider<TrainingWatch> training) {
		this.training = training;
	}

	@Override
	public void bindTo(MeterRegistry registry) {
		this.training.ifAvailable((watch) -> bind(registry, watch));
	}

	private static void bind(MeterRegistry registry, TrainingWatch training) {
		FunctionTimer
			.builder("tutti.training.step.duration", training, TrainingWatch::steps, (watch) -> watch.times().nanos(),
					TimeUnit.NANOSECONDS)
			.description("Steps of this process, and their time")
			.register(registry);
		FunctionTimer
			.builder("tutti.training.checkpoint.wait", training, TrainingWatch::checkpoints,
					TrainingWatch::checkpointSeconds, TimeUnit.SECONDS)
			.description("Checkpoints that this process has written, and the time for which training waited for them")
			.register(registry);
		FunctionCounter.builder("tutti.training.samples", training, (watch) -> watch.times().samples())
			.description("Samples of the global batches of this process's steps")
			.register(registry);
		FunctionCounter.builder("tutti.training.steps.repeated", training, TrainingWatch::repeatedSteps)
			.description("Steps of the job that were begun again after a lost rank; every rank counts all of them")
			.register(registry);
		seconds(registry, training, "tutti.training.exposed.communication",
				"Time of the steps in which the training thread only communicated", StepTimes::exposedNanos);
		seconds(registry, training, "tutti.training.data.wait",
				"Time of the steps in which the training thread waited for data", StepTimes::dataNanos);
		gauge(registry, training, "tutti.training.loss", "Mean loss of the last step",
				(progress) -> (progress.loss() != null) ? progress.loss() : Double.NaN);
		gauge(registry, training, "tutti.training.progress.ratio",
				"Completed steps, including earlier runs, of all steps",
				(progress) -> (double) progress.step() / progress.plan().totalSteps());
	}

	private static void seconds(MeterRegistry registry, TrainingWatch training, String name, String description,
			ToLongFunction<StepTimes> nanos) {
		FunctionCounter.builder(name, training, (watch) -> nanos.applyAsLong(watch.times()) / 1e9)
			.description(description)
			.baseUnit("seconds")
			.register(registry);
	}

	private static void gauge(MeterRegistry registry, TrainingWatch training, String name, String description,
			ToDoubleFunction<TrainingProgress> value) {
		Gauge.builder(name, training, (watch) -> {
			TrainingProgress progress = watch.progress();
			return (progress != null) ? value.applyAsDouble(progress) : Double.NaN;
		}).description(description).register(registry);
	}

}
