package io.tutti.service.metrics;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.control.PeerStatus;
import io.tutti.service.TuttiApplication;
import io.tutti.service.group.FakeGroup;
import io.tutti.service.group.FakeJoiner;
import io.tutti.service.group.GroupJoiner;
import io.tutti.service.group.GroupLifecycle;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Primary;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
class MetersTest {

	private static final Pattern METER = Pattern.compile("\\b(?:tutti|process)_[a-z_]+");

	private static Set<String> metersIn(String text) {
		Set<String> meters = new TreeSet<>();
		Matcher matcher = METER.matcher(text);
		while (matcher.find()) {
			meters.add(matcher.group());
		}
		return meters;
	}

	private static String scrape(MockMvcTester http) {
		assertThat(http.get().uri("/actuator/prometheus")).hasStatusOk();
		try {
			return http.get().uri("/actuator/prometheus").exchange().getResponse().getContentAsString();
		}
		catch (IOException ex) {
			throw new AssertionError(ex);
		}
	}

	/** Rank 1 of 3, which knows its peers. */
	@Nested
	@SpringBootTest(classes = TuttiApplication.class,
			properties = { "tutti.rank=1", "tutti.world-size=3", "management.prometheus.metrics.export.enabled=true" })
	@AutoConfigureMockMvc
	@Import(RankOfThree.class)
	class OfARankWithPeers {

		@Autowired
		private MockMvcTester http;

		@Autowired
		private FakeGroup group;

		@Test
		void peersAndTheStateOfTheGroupAreReported() {
			assertThat(scrape(this.http)).contains("tutti_peers{state=\"up\"} 1.0", "tutti_peers{state=\"lost\"} 1.0",
					"tutti_peers{state=\"left\"} 0.0", "tutti_peers{state=\"unknown\"} 0.0",
					"tutti_peer_rtt_max_seconds 2.5E-4", "tutti_peer_rtt_median_seconds 2.5E-4",
					"tutti_peer_silence_max_seconds 0.012", "tutti_group_generation 4.0",
					"tutti_group_state{state=\"ready\"} 1.0", "tutti_group_state{state=\"broken\"} 0.0",
					"tutti_collective_inflight 0.0", "tutti_collective_last_sequence -1.0");
		}

		/** Rank 0 measured it, so that a slow rank would show in the meters of all. */
		@Test
		void whatRankZeroReportsOfAnotherPeerIsNoMeasurementOfThisRank() {
			this.group.addPeer(new PeerStatus(2, "fd00::2", 42000, 100, 300, PeerStatus.State.UP));
			assertThat(scrape(this.http)).contains("tutti_peers{state=\"up\"} 2.0", "tutti_peer_rtt_max_seconds 2.5E-4",
					"tutti_peer_rtt_median_seconds 2.5E-4", "tutti_peer_silence_max_seconds 0.012");
			this.group.addPeer(RankOfThree.LOST);
		}

		@Test
		void withoutRankZeroTheStateOfOtherPeersIsUnknown() {
			this.group.addPeer(new PeerStatus(2, "fd00::2", 42000, 100, 300, PeerStatus.State.UNKNOWN));
			this.group.addPeer(RankOfThree.RANK_ZERO.apply(PeerStatus.State.LOST));
			assertThat(scrape(this.http)).contains("tutti_peers{state=\"up\"} 0.0",
					"tutti_peers{state=\"unknown\"} 1.0", "tutti_peers{state=\"lost\"} 1.0");
			this.group.addPeer(RankOfThree.RANK_ZERO.apply(PeerStatus.State.UP));
			this.group.addPeer(RankOfThree.LOST);
		}

	}

	/** A real group of one rank that has called collectives. */
	@Nested
	@SpringBootTest(classes = TuttiApplication.class,
			properties = { "tutti.rank=0", "tutti.world-size=1", "management.prometheus.metrics.export.enabled=true" })
	@AutoConfigureMockMvc
	class OfARankThatCalls {

		@Autowired
		private MockMvcTester http;

		@Autowired
		private GroupLifecycle group;

		@Test
		void collectivesAreCountedWithTheirTimeAndBytes() {
			ProcessGroup world = this.group.formed().orTimeout(30, TimeUnit.SECONDS).join().world();
			for (int i = 0; i < 2500; i++) {
				world.allReduce(new float[] { 1, 2 }, ReduceOp.SUM);
			}
			String scraped = scrape(this.http);
			String tags = "{backend=\"tcp\",op=\"all-reduce\"";
			assertThat(scraped).contains(
					"tutti_collective_duration_seconds_count" + tags + ",outcome=\"success\"} 2500",
					"tutti_collective_duration_seconds_count" + tags + ",outcome=\"failure\"} 0",
					"tutti_collective_duration_seconds_bucket" + tags + ",outcome=\"success\",le=\"+Inf\"} 2500",
					"tutti_collective_bytes_total" + tags + "} 20000.0", "tutti_collective_last_sequence 2499.0",
					"tutti_collective_bus_bandwidth_bytes_per_second" + tags + "} 0.0");
			assertThat(scraped).contains("# TYPE tutti_collective_duration_seconds histogram")
				.containsPattern("duration_seconds_bucket.*outcome=\"success\",le=\"0.001\"} [1-9]")
				.doesNotContain("tutti_collective_duration_seconds_max", "op=\"scan\",outcome")
				.containsPattern("algorithm_bandwidth_bytes_per_second\\{backend=\"tcp\",op=\"all-reduce\"} [1-9]")
				.containsPattern("tutti_rendezvous_duration_seconds [0-9.E-]+");
		}

	}

	/** The histogram of a collective appears with its first call. */
	@Nested
	@SpringBootTest(classes = TuttiApplication.class,
			properties = { "tutti.rank=0", "tutti.world-size=1", "tutti.rendezvous.job-id=names",
					"management.prometheus.metrics.export.enabled=true" })
	@AutoConfigureMockMvc
	class Names {

		@Autowired
		private MockMvcTester http;

		@Autowired
		private GroupLifecycle group;

		/** Prometheus refuses a scrape with exemplars at summaries. */
		@Test
		void onlyCountersAndBucketsHaveExemplars(@Autowired PrometheusConfig config) {
			assertThat(config.prometheusProperties()).containsEntry("io.prometheus.exporter.exemplarsOnAllMetricTypes",
					"false");
		}

		private String scrapeAfterACall() {
			this.group.formed().orTimeout(30, TimeUnit.SECONDS).join().world().barrier();
			return scrape(this.http);
		}

		@Test
		void everyPanelOfTheDashboardNamesAnExistingMeter() throws IOException {
			Set<String> there = metersIn(scrapeAfterACall());
			JsonNode dashboard = JsonMapper.shared()
				.readTree(Files.readString(Path.of("helm", "tutti", "dashboards", "tutti.json")));
			for (JsonNode panel : dashboard.path("panels")) {
				for (JsonNode target : panel.path("targets")) {
					assertThat(metersIn(target.path("expr").asString())).as(panel.path("title").asString())
						.isNotEmpty()
						.isSubsetOf(there);
				}
			}
			JsonNode variables = dashboard.at("/templating/list");
			assertThat(there).containsAll(metersIn(variables.toString()));
		}

		@Test
		void everyAlertNamesAnExistingMeter() throws IOException {
			Set<String> there = metersIn(scrapeAfterACall());
			String rules = Files.readString(Path.of("helm", "tutti", "templates", "prometheusrule.yaml"));
			assertThat(rules.lines().filter((line) -> line.contains("expr:"))).hasSize(9)
				.allSatisfy((line) -> assertThat(metersIn(line)).isNotEmpty().isSubsetOf(there));
		}

		@Test
		void everyDocumentedMeterExists() throws IOException {
			String page = Files.readString(Path.of("src/docs/operations.md"));
			String table = page.substring(page.indexOf("## Meters"), page.indexOf("`rate(tutti_training"));
			Set<String> documented = new TreeSet<>();
			Matcher braces = Pattern.compile("`(tutti_\\w*)(?:\\{([a-z,]+)\\})?(\\w*)`").matcher(table);
			while (braces.find()) {
				String middles = (braces.group(2) != null) ? braces.group(2) : "";
				Arrays.stream(middles.split(","))
					.map((middle) -> braces.group(1) + middle + braces.group(3))
					.forEach(documented::add);
			}
			assertThat(documented).hasSizeGreaterThan(15).isSubsetOf(metersIn(scrapeAfterACall()));
		}

	}

	@TestConfiguration
	static class RankOfThree {

		static final Function<PeerStatus.State, PeerStatus> RANK_ZERO = (state) -> new PeerStatus(0, "10.0.0.1", 41000,
				12, 250, state);

		static final PeerStatus LOST = new PeerStatus(2, "fd00::2", 42000, -1, -1, PeerStatus.State.LOST);

		@Bean
		FakeGroup fakeGroup() {
			FakeGroup group = new FakeGroup(1, 3, 4);
			group.addPeer(RANK_ZERO.apply(PeerStatus.State.UP));
			group.addPeer(LOST);
			return group;
		}

		@Bean
		@Primary
		GroupJoiner fakeMeeting(FakeGroup group) {
			return FakeJoiner.of(group);
		}

	}

}
