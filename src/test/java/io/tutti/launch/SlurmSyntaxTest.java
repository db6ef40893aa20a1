package io.tutti.launch;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(10)
class SlurmSyntaxTest {

	@ParameterizedTest
	@CsvSource(delimiter = '|', value = { "node1|node1|1", "node[01-03,7],gpu1|node01|5", "a,b,c|a|3", "n[5]|n5|1",
			"rack[1-2]n[08-11]x|rack1n08x|8", "[3-4]|3|2", "n[000000001-999999999]|n000000001|999999999" })
	void aNodeListYieldsItsFirstHostAndTheNumberOfHosts(String text, String first, long count) {
		assertThat(SlurmNodeList.parse("LIST", text)).isEqualTo(new SlurmNodeList(first, count));
	}

	@ParameterizedTest
	@ValueSource(strings = { "", ",", "a,", ",a", "n[", "n]", "n[1", "n[]", "n[1-]", "n[-1]", "n[3-1]", "n[[1]]",
			"n[1,]", "a b", "n[a-b]", "n[99999999999]", "a[1-999999999]b[1-999999999]c[1-999999999]",
			"a[1-999999999]b[1-999999999]",
			"a[1-999999999]b[1-9],a[1-999999999]b[1-9],a[1-999999999]b[1-9],a[1-999999999]b[1-9]" })
	void aMalformedNodeListIsRejectedWithTheVariable(String text) {
		assertThatExceptionOfType(ResolutionException.class).isThrownBy(() -> SlurmNodeList.parse("LIST", text))
			.withMessageContaining("LIST=" + text);
	}

	@Test
	void taskCountsAreParsedPerNode() {
		assertThat(SlurmTaskCounts.at("COUNTS", "4(x2),3", 0, 11)).isEqualTo(4);
		assertThat(SlurmTaskCounts.at("COUNTS", "4(x2),3", 1, 11)).isEqualTo(4);
		assertThat(SlurmTaskCounts.at("COUNTS", "4(x2),3", 2, 11)).isEqualTo(3);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "4(x2", "x", ",4", "0(x3)", "4(x2),3", "12(x3)" })
	void invalidTaskCountsAreRejectedWithTheVariable(String text) {
		assertThatExceptionOfType(ResolutionException.class)
			.isThrownBy(() -> SlurmTaskCounts.at("COUNTS", text, text.equals("4(x2),3") ? 3 : 0, 11))
			.withMessageContaining("COUNTS=" + text);
	}

}
