package io.tutti.training.table;

import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

@Timeout(20)
class TableSourceTest {

	@ParameterizedTest
	@CsvSource({ "tab, 9", "';', 59", "|, 124", "' ', 32" })
	void aSeparatorIsOneCharacterOrTab(String text, int separator) {
		assertThat(TableSource.separator(text)).isEqualTo((char) separator);
		assertThat(source(TableSource.separator(text), null, null).separator()).isEqualTo((char) separator);
	}

	@ParameterizedTest
	@CsvSource({ "''", ";;", "space" })
	void aLongerSeparatorIsRejected(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> TableSource.separator(text))
			.withMessageContaining("must be one character or 'tab', got '" + text + "'");
	}

	@Test
	void aSeparatorThatOccursInNumbersIsRejected() {
		for (char character : "\"\r\n0e.+-".toCharArray()) {
			assertThatIllegalArgumentException().isThrownBy(() -> source(character, null, null))
				.withMessageContaining("separator must be");
		}
	}

	@Test
	void anImpossibleLabelIsRejected() {
		assertThatIllegalArgumentException().isThrownBy(() -> source(',', " ", null)).withMessageContaining("got ''");
		assertThatIllegalArgumentException().isThrownBy(() -> source(',', "0", null)).withMessageContaining("from 1");
		assertThatIllegalArgumentException().isThrownBy(() -> source(',', "class", false))
			.withMessageContaining("a table without a header has no names");
	}

	private static TableSource source(char separator, String label, Boolean header) {
		return new TableSource(Path.of("table.csv"), null, separator, label, header);
	}

}
