package io.tutti.benchmark.peer;

import java.util.List;

import io.tutti.benchmark.Measurement;
import io.tutti.benchmark.Operation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(10)
class PeerLinesTest {

	private static final String LINE = "R\topenmpi-4.1.4\tshm-ucx\tall-reduce\t2\t1024\t1.250\t1.000\t9.500\t400\t3";

	@Test
	void aResultLineGivesAMeasurementOfItsSystem() {
		assertThat(PeerLines.parse(List.of(LINE))).containsExactly(new Measurement("openmpi-4.1.4", "shm-ucx",
				Operation.ALL_REDUCE, 2, 1024, 256, 1.25, 1.0, 9.5, 400, 3));
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "No protocol specified", "R\topenmpi-4.1.4\tshm-ucx\tall-reduce\t2\t1024\t1.250",
			"R\tx\ty\tdance\t2\t4\t1\t1\t1\t5\t0", "R\tx\ty\tbarrier\ttwo\t4\t1\t1\t1\t5\t0",
			"S\tx\ty\tbarrier\t2\t4\t1\t1\t1\t5\t0" })
	void otherAndIncompleteLinesAreIgnored(String other) {
		assertThat(PeerLines.parse(List.of(other, LINE))).hasSize(1);
	}

}
