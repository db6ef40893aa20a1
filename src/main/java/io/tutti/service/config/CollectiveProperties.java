package io.tutti.service.config;

import io.tutti.engine.algorithm.AlgorithmOverrides;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Options of collectives.
 *
 * @param algorithms algorithms to use instead of the measured table's, such as
 * {@code all-reduce=ring,broadcast=chain}; rank 0's count for all ranks
 */
@ConfigurationProperties("tutti.collective")
public record CollectiveProperties(@DefaultValue("") AlgorithmOverrides algorithms) {
}
