package io.tutti.service.group;

import java.util.ArrayList;
import java.util.List;

import io.tutti.engine.backend.JoinedGroup;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(20)
class PerGenerationTest {

	private final List<JoinedGroup> closed = new ArrayList<>();

	private final PerGeneration<JoinedGroup> kept = new PerGeneration<>((joined) -> joined, this.closed::add);

	private final FakeGroup first = new FakeGroup(0, 3, 0);

	private final FakeGroup second = new FakeGroup(0, 2, 1);

	@Test
	void whatIsKeptOfAGenerationIsClosedWhenTheNextOneForms() {
		this.kept.formed(this.first);
		this.kept.formed(this.second);
		assertThat(this.kept.current()).isSameAs(this.second);
		assertThat(this.closed).containsExactly(this.first);
	}

	/** As to a listener that is added while the second one forms. */
	@Test
	void anEarlierGenerationThatIsReportedLateChangesNothing() {
		this.kept.formed(this.second);
		this.kept.formed(this.first);
		assertThat(this.kept.current()).isSameAs(this.second);
		assertThat(this.closed).isEmpty();
	}

}
