package io.tutti.service.command;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;

import io.tutti.DataType;
import io.tutti.ReduceOp;
import io.tutti.benchmark.BenchmarkOptions;
import io.tutti.benchmark.BufferKind;
import io.tutti.benchmark.Operation;
import io.tutti.benchmark.peer.Peer;
import io.tutti.ExitCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(20)
class BenchCommandTest {

	private final StringWriter err = new StringWriter();

	private final CommandLine tutti = TuttiCommand.commandLine(Object.class).setErr(new PrintWriter(this.err, true));

	@ParameterizedTest
	@CsvSource(delimiter = '|', value = { "--collective dance|send-receive, all, got dance",
			"--transport udp|--transport must be one of auto, tcp, shm, got udp",
			"--congestion-control vegas|--congestion-control must be one of cubic, reno, bbr, system, got vegas",
			"--bind-to socket|--bind-to must be one of core, none, got socket", "--format xml|table, tsv, json",
			"--min-bytes 1KB --max-bytes 4|min bytes <= max bytes",
			"--min-bytes 4X|--min-bytes must be a size such as 4, 1KB or 64MB, got 4X",
			"--max-bytes 99999999999GB|--max-bytes must be a size such as 4, 1KB or 64MB, got 99999999999GB",
			"--factor 1|factor must be at least 2", "--against nccl|openmpi, mpich, gloo, got nccl",
			"--interleave 3|needs --against", "--against gloo --interleave 0|1..100, got 0",
			"--against gloo --dtype float64|float32 only", "--against gloo --op max|float32 only",
			"--batch 8|--batch needs --training", "--parameters 1|--parameters needs --training",
			"--training --max-bytes 4|--max-bytes is for collectives", "--training --batch 0|--batch must be in 1..",
			"--training --parameters 1,|list of millions such as 1,10,100, got 1,",
			"--training --parameters 5000|0.001 to 1000 million parameters, got 5000.0 million" })
	void anInvalidOptionEndsWith64AndNamesTheValidValues(String options, String said) {
		assertThat(this.tutti.execute(("bench " + options).split(" "))).isEqualTo(ExitCode.BAD_CONFIGURATION);
		assertThat(this.err.toString()).contains(said);
	}

	@Test
	void peersAreThoseOfTheOptionAndNoneByDefault() {
		assertThat(against()).isEmpty();
		assertThat(against("--against", "mpich,openmpi", "--interleave", "3")).containsExactly(Peer.MPICH,
				Peer.OPENMPI);
	}

	private static List<Peer> against(String... arguments) {
		AgainstOptions options = new AgainstOptions();
		new CommandLine(options).parseArgs(arguments);
		return options.peers(new BenchmarkOptions(List.of(Operation.ALL_REDUCE), 4, 4, 2, 0, 0, DataType.FLOAT32,
				ReduceOp.SUM, BufferKind.PRIVATE, Duration.ofMillis(1)));
	}

}
