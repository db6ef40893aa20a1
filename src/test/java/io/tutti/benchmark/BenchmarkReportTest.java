package io.tutti.benchmark;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class BenchmarkReportTest {

	private static final Measurement MEASURED = new Measurement("tutti", "shm", Operation.ALL_REDUCE, 2, 1024, 256, 4,
			2, 8, 20, 3);

	@Test
	void everyLineForScriptsHasTheColumnsOfTheHeader() {
		assertThat(BenchmarkReport.TSV.header().split("\t")).containsExactly("system", "transport", "op", "ranks",
				"bytes", "p50_us", "min_us", "max_us", "algbw_GBps", "runs", "wrong");
		assertThat(BenchmarkReport.TSV.line(MEASURED).split("\t")).containsExactly("tutti", "shm", "allreduce", "2",
				"1024", "4.000", "2.000", "8.000", "0.2560", "20", "3");
	}

}
