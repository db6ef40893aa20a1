package io.tutti.engine.bootstrap;

import java.util.List;
import java.util.stream.IntStream;

import io.tutti.engine.control.ControlMessage.Hello;
import io.tutti.engine.control.MissingRanks;
import io.tutti.engine.control.PeerAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(30)
class RankTableTest {

	private final RankTable seats = new RankTable(4);

	@Test
	void ranksOfOneHostKeepTheirLoopbackAddress() {
		take(1, "127.0.0.1", false, true, "127.0.0.1");
		take(2, "127.0.0.1", false, true, "127.0.0.1");
		take(3, "127.0.0.1", false, true, "127.0.0.1");
		assertThat(hosts()).containsExactly("127.0.0.1", "127.0.0.1", "127.0.0.1", "127.0.0.1");
	}

	@Test
	void loopbackIsNotAdvertisedToOtherHosts() {
		take(1, "127.0.0.1", false, true, "127.0.0.1");
		take(2, "10.0.0.2", false, false, "10.0.0.1");
		take(3, "localhost", true, true, "127.0.0.1");
		assertThat(hosts()).containsExactly("10.0.0.1", "10.0.0.1", "10.0.0.2", "localhost");
	}

	@Test
	void anAdvertisedLoopbackAddressIsReportedOnlyIfRanksAreOnOtherHosts() {
		take(1, "127.0.0.1", true, true, "127.0.0.1");
		take(2, "localhost", true, true, "127.0.0.1");
		assertThat(this.seats.hidden("::1")).isEmpty();
		take(3, "10.0.0.2", true, false, "10.0.0.1");
		assertThat(this.seats.hidden("::1")).containsExactly(0, 1, 2);
		assertThat(this.seats.hidden("rank-0.example")).containsExactly(1, 2);
		assertThat(this.seats.hidden(null)).containsExactly(1, 2);
	}

	@Test
	void missingAndDroppedRanksAreKnown() {
		take(1, "a", true, false, "b");
		take(2, "a", true, false, "b");
		this.seats.drop(2);
		assertThat(this.seats.allTaken()).isFalse();
		assertThat(this.seats.isTaken(2)).isFalse();
		assertThat(this.seats.absence()).isEqualTo(new MissingRanks(List.of(2, 3), List.of(2), List.of()));
		take(2, "a", true, false, "b");
		take(3, "a", true, false, "b");
		assertThat(this.seats.allTaken()).isTrue();
	}

	@Test
	void aLongListOfMissingRanksIsTruncated() {
		List<Integer> all = IntStream.range(1, 1001).boxed().toList();
		assertThat(new MissingRanks(all, List.of(), List.of()).describe()).startsWith("rank 1, rank 2, ")
			.endsWith("rank 16 and 984 more");
	}

	private void take(int rank, String host, boolean chosen, boolean sameHost, String reachedAt) {
		Hello hello = new Hello("job", 0, rank, 4, host, chosen, 7000, "host");
		this.seats.take(new RankTable.Entry(hello, sameHost, reachedAt));
	}

	private List<String> hosts() {
		String zero = this.seats.rankZeroHost("fallback");
		return this.seats.roster(new PeerAddress(0, zero, 7000, "host"), zero).stream().map(PeerAddress::host).toList();
	}

}
