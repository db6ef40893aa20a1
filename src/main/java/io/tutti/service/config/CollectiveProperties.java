package io.tutti.service.config;

import io.tutti.engine.algorithm.AlgorithmOverrides;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Options of collectives.
 *
 * @param algorithms algorithms that override the measured table, such as
 * {@code all-reduce=ring,broadcast=chain}; rank 0's apply to all ranks
 */
@ConfigurationProperties("tutti.collective")
public record CollectiveProperties(@DefaultValue("") AlgorithmOverrides algorithms) {
}
