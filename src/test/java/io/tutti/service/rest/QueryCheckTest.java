package io.tutti.service.rest;

import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class QueryCheckTest {

	@Test
	void aKnownParameterIsAccepted() {
		assertThatCode(() -> QueryCheck.check(Map.of("root", new String[] { "1" }), Set.of("root")))
			.doesNotThrowAnyException();
	}

	@Test
	void anUnknownParameterIsRefusedWithTheKnownOnes() {
		assertThatExceptionOfType(ProblemException.class)
			.isThrownBy(() -> QueryCheck.check(Map.of("roots", new String[] { "1" }), Set.of("root")))
			.withMessage("unknown parameter roots; known are [root]");
	}

	@Test
	void anyParameterOfAnEndpointWithoutParametersIsRefused() {
		assertThatExceptionOfType(ProblemException.class)
			.isThrownBy(() -> QueryCheck.check(Map.of("x", new String[] { "1" }), Set.of()))
			.withMessage("unknown parameter x; this endpoint has none");
	}

	@Test
	void aRepeatedParameterIsRefused() {
		assertThatExceptionOfType(ProblemException.class)
			.isThrownBy(() -> QueryCheck.check(Map.of("root", new String[] { "1", "2" }), Set.of("root")))
			.withMessage("parameter root is given 2 times");
	}

}
