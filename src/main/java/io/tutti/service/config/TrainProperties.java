package io.tutti.service.config;

import io.tutti.training.DeviceChoice;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Options of {@code train}.
 *
 * @param device device of a rank: {@code cpu}; {@code cuda} for the GPU of its local
 * rank, {@code cuda:n} for a GPU by number; {@code auto} for a GPU if both the group's
 * backend and libtorch support one, else the CPU
 */
@ConfigurationProperties("tutti.train")
public record TrainProperties(@DefaultValue("auto") String device) {

	public TrainProperties {
		DeviceChoice.parse(device);
	}

	/** The configured choice of device. */
	public DeviceChoice choice() {
		return DeviceChoice.parse(this.device);
	}

}
