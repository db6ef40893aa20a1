package io.tutti.service.group;

import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import ch.qos.logback.classic.LoggerContext;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;

class LogContextTest {

	private final FakeGenerations generations = new FakeGenerations(2, 3);

	@Test
	void linesHaveThePlaceInTheGroupWhileThereIsOne() {
		LogContext context = new LogContext(this.generations.lifecycle());
		assertThat(place()).isEmpty();
		this.generations.form(new FakeGroup(1, 2, 4), List.of(0, 2));
		assertThat(place())
			.isEqualTo(Map.of("generation", 4L, "group", "world", "groupRank", 1, "groupSize", 2, "sequence", -1L));
		context.destroy();
		assertThat(place()).isEmpty();
	}

	private static Map<?, ?> place() {
		LoggerContext logging = (LoggerContext) LoggerFactory.getILoggerFactory();
		return (Map<?, ?>) ((Supplier<?>) logging.getObject("tutti.place")).get();
	}

}
