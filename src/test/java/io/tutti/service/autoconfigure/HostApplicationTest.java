package io.tutti.service.autoconfigure;

import java.net.URI;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.tutti.BadConfigurationException;
import io.tutti.ProcessGroup;
import io.tutti.service.config.HttpProperties;
import io.tutti.service.config.StartupFailures;
import io.tutti.service.group.GroupLifecycle;
import io.tutti.service.health.GroupHealthAutoConfiguration;
import io.tutti.service.health.RankEndpointAutoConfiguration;
import io.tutti.service.http.ClientConnections;
import io.tutti.service.metrics.GroupMetricsAutoConfiguration;
import io.tutti.service.page.PageAutoConfiguration;
import io.tutti.service.recorder.FailureFileAutoConfiguration;
import io.tutti.service.rest.RestAutoConfiguration;
import io.tutti.service.rest.RestSecurityAutoConfiguration;
import io.tutti.service.tracing.CollectiveTracingAutoConfiguration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.availability.ApplicationAvailabilityAutoConfiguration;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroups;
import org.springframework.boot.health.autoconfigure.actuate.endpoint.AvailabilityProbesAutoConfiguration;
import org.springframework.boot.health.autoconfigure.actuate.endpoint.HealthEndpointAutoConfiguration;
import org.springframework.boot.health.autoconfigure.application.AvailabilityHealthContributorAutoConfiguration;
import org.springframework.boot.health.autoconfigure.contributor.HealthContributorAutoConfiguration;
import org.springframework.boot.health.autoconfigure.registry.HealthContributorRegistryAutoConfiguration;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.http.converter.autoconfigure.HttpMessageConvertersAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableWebApplicationContext;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.webmvc.autoconfigure.DispatcherServletAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.ConfigurableWebApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application with its own controllers that has this library on its class path.
 */
@Timeout(120)
class HostApplicationTest {

	private static final String BARRIER = "{\"label\":\"x\",\"timeoutMs\":20000}";

	private static final String TOKEN = "tutti.security.token=open sesame";

	private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(ApplicationAvailabilityAutoConfiguration.class,
				DispatcherServletAutoConfiguration.class, WebMvcAutoConfiguration.class,
				HttpMessageConvertersAutoConfiguration.class, JacksonAutoConfiguration.class,
				HealthContributorRegistryAutoConfiguration.class, HealthContributorAutoConfiguration.class,
				HealthEndpointAutoConfiguration.class, AvailabilityHealthContributorAutoConfiguration.class,
				AvailabilityProbesAutoConfiguration.class, ProcessGroupAutoConfiguration.class,
				GroupHealthAutoConfiguration.class, RankEndpointAutoConfiguration.class,
				GroupMetricsAutoConfiguration.class, PageAutoConfiguration.class, FailureFileAutoConfiguration.class,
				RestAutoConfiguration.class, RestSecurityAutoConfiguration.class,
				CollectiveTracingAutoConfiguration.class))
		.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
		.withBean(SpanExporter.class, SpanExporter::composite)
		.withUserConfiguration(Host.class);

	@Test
	void theInterfaceIsServedBesideTheApplicationsOwnControllers() {
		this.runner.withPropertyValues(TOKEN).run((context) -> {
			MockMvcTester http = http(context);
			assertThat(http.get().uri("/api/v1/group")).hasStatusOk().bodyText().contains("\"worldSize\":1");
			assertThat(barrier(http, "/api/v1", "Bearer open sesame")).hasStatusOk()
				.bodyText()
				.contains("\"arrived\":1");
			assertThat(http.post()
				.uri("/api/v1/collectives/all-reduce")
				.header("Authorization", "Bearer open sesame")
				.contentType(MediaType.APPLICATION_OCTET_STREAM)
				.content(new byte[] { 0, 0, 0, 64 })).hasStatusOk().body().isEqualTo(new byte[] { 0, 0, 0, 64 });
			assertThat(http.get().uri("/tutti/")).hasStatusOk();
			assertThat(http.post().uri("/own")).hasStatusOk().hasBodyTextEqualTo("own");
		});
	}

	@Test
	void theBasePathIsConfigurable() {
		this.runner.withPropertyValues("tutti.http.base-path=/ranks/api", "tutti.page.path=/ranks", TOKEN)
			.run((context) -> {
				MockMvcTester http = http(context);
				assertThat(http.get().uri("/ranks/api/group")).hasStatusOk();
				assertThat(http.get().uri("/ranks/api/group?frob=1")).hasStatus(HttpStatus.UNPROCESSABLE_CONTENT);
				assertThat(http.get().uri("/ranks/api/flight-recorder")).hasStatusOk();
				assertThat(http.get().uri("/ranks/")).hasStatusOk();
				assertThat(http.get().uri("/api/v1/group")).hasStatus(HttpStatus.NOT_FOUND);
			});
	}

	@Test
	void theLinksOfThePageLeadToWhatTheApplicationServes() {
		this.runner.withPropertyValues("tutti.http.base-path=/ranks/api", "tutti.page.path=/some/page")
			.run((context) -> {
				MockMvcTester http = http(context);
				String page = http.get().uri("/some/page/").exchange().getResponse().getContentAsString();
				List<String> links = Pattern.compile("<a href=\"([^\"]+)\"")
					.matcher(page)
					.results()
					.map((link) -> URI.create("/some/page/").resolve(link.group(1)).toString())
					.toList();
				assertThat(links).hasSize(4).contains("/ranks/api/flight-recorder/analysis");
				assertThat(links).allSatisfy((link) -> assertThat(http.get().uri(link)).hasStatusOk());
			});
		this.runner.withPropertyValues("tutti.http.enabled=false")
			.run((context) -> assertThat(http(context).get().uri("/tutti/")).bodyText().doesNotContain("<a href"));
	}

	@Test
	void aChangeNeedsTheTokenAndTheApplicationsOwnEndpointsDoNot() {
		this.runner.withPropertyValues(TOKEN).run((context) -> {
			MockMvcTester http = http(context);
			assertThat(barrier(http, "/api/v1", null)).hasStatus(HttpStatus.UNAUTHORIZED)
				.hasContentType(MediaType.APPLICATION_PROBLEM_JSON);
			assertThat(barrier(http, "/api/v1", "Bearer wrong")).hasStatus(HttpStatus.FORBIDDEN);
			assertThat(http.post().uri("/api/v1/own").header("Content-Encoding", "gzip")).hasStatusOk();
			assertThat(http.post().uri("/own").header("Origin", "http://evil.example")).hasStatusOk();
		});
	}

	@Test
	void withoutATokenChangesAreRefusedUnlessAllowedToAnyone() {
		this.runner.run((context) -> assertThat(barrier(http(context), "/api/v1", null)).hasStatus(HttpStatus.FORBIDDEN)
			.bodyText()
			.contains("the job has no token", "tutti.security.anonymous=true"));
		this.runner.withPropertyValues("tutti.security.anonymous=true").run((context) -> {
			assertThat(barrier(http(context), "/api/v1", null)).hasStatusOk();
			assertThat(request(http(context), "/api/v1").header("Origin", "http://evil.example").exchange())
				.hasStatus(HttpStatus.FORBIDDEN);
			assertThat(request(http(context), "/api/v1").header("Host", "rebound.example").exchange())
				.hasStatus(HttpStatus.FORBIDDEN);
		});
	}

	@Test
	void bodiesAreReadStrictlyWhateverTheApplicationsOwnReading() {
		this.runner.withPropertyValues(TOKEN, "spring.jackson.deserialization.fail-on-unknown-properties=false")
			.run((context) -> assertThat(http(context).post()
				.uri("/api/v1/barrier")
				.header("Authorization", "Bearer open sesame")
				.contentType(MediaType.APPLICATION_JSON)
				.content("{\"label\":\"x\",\"timeout\":5}")).hasStatus(HttpStatus.UNPROCESSABLE_CONTENT)
				.bodyText()
				.contains("unknown field timeout"));
	}

	@Test
	void thePageReceivesTheFieldsThatItsScriptReadsWhateverTheApplicationsOwnWriting() {
		this.runner
			.withPropertyValues("spring.jackson.property-naming-strategy=SNAKE_CASE",
					"spring.jackson.default-property-inclusion=non_empty")
			.run((context) -> {
				MvcTestResult events = http(context).get().uri("/tutti/page/events").asyncExchange();
				Awaitility.await()
					.atMost(20, TimeUnit.SECONDS)
					.until(() -> events.getResponse().getContentAsString(), (sent) -> sent.contains("event:state")
							&& sent.contains("\"worldSize\":1") && sent.contains("\"inFlight\":[]"));
			});
	}

	@Test
	void theApplicationNeedsNoMapperOfItsOwn() {
		new WebApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(ProcessGroupAutoConfiguration.class, PageAutoConfiguration.class,
					FailureFileAutoConfiguration.class, RestAutoConfiguration.class,
					RestSecurityAutoConfiguration.class))
			.run((context) -> assertThat(context).hasNotFailed()
				.hasBean("tuttiFailureFile")
				.doesNotHaveBean(JsonMapper.class));
	}

	@Test
	void errorsOfTheApplicationAreItsOwn() {
		this.runner.run((context) -> {
			MvcTestResult failed = http(context).post().uri("/fail").exchange();
			assertThat(failed).hasFailed().failure().hasRootCauseMessage("the application's own");
			assertThat(http(context).get().uri("/nothing").exchange()).hasStatus(HttpStatus.NOT_FOUND)
				.bodyText()
				.doesNotContain("urn:tutti");
			assertThat(context.getBeansOfType(WebServerFactoryCustomizer.class).values())
				.hasOnlyElementsOfType(ClientConnections.class);
		});
	}

	@Test
	void requestsThatNoControllerAcceptsAreProblemsOnTheInterfacesPathsOnly() {
		this.runner.withPropertyValues(TOKEN).withBean(OwnAdvice.class).run((context) -> {
			MockMvcTester http = http(context);
			assertThat(http.delete().uri("/api/v1/group")).hasStatus(HttpStatus.METHOD_NOT_ALLOWED)
				.bodyText()
				.contains("urn:tutti:problem:method-not-allowed", "\"rank\":0");
			assertThat(http.post().uri("/api/v1/barrier").contentType(MediaType.TEXT_PLAIN).content("x"))
				.hasStatus(HttpStatus.UNSUPPORTED_MEDIA_TYPE)
				.bodyText()
				.contains("urn:tutti:problem:unsupported-media-type");
			assertThat(http.get().uri("/api/v1/group").accept(MediaType.TEXT_HTML)).hasStatus(HttpStatus.NOT_ACCEPTABLE)
				.bodyText()
				.contains("urn:tutti:problem:not-acceptable");
			for (String path : List.of("/own", "/api/v1/own", "/api/v1/nothing", "/nothing")) {
				assertThat(http.get().uri(path)).hasStatus(HttpStatus.PAYMENT_REQUIRED);
			}
		});
	}

	@Test
	void theProbesIncludeTheGroupAndTheEngine() {
		this.runner.run((context) -> {
			HealthEndpointGroups groups = context.getBean(HealthEndpointGroups.class);
			assertThat(groups.get("readiness").isMember("group")).isTrue();
			assertThat(groups.get("readiness").isMember("readinessState")).isTrue();
			assertThat(groups.get("liveness").isMember("engine")).isTrue();
			assertThat(groups.get("liveness").isMember("group")).isFalse();
		});
	}

	@Test
	void configuredMembersOfAProbeStay() {
		this.runner.withPropertyValues("management.endpoint.health.group.readiness.include=readinessState")
			.run((context) -> assertThat(context.getBean(HealthEndpointGroups.class).get("readiness").isMember("group"))
				.isFalse());
	}

	@Test
	void theMetersAreRegistered() {
		this.runner.run((context) -> assertThat(context.getBeansOfType(MeterBinder.class)).hasSize(3));
	}

	@Test
	void controllersAreCreatedAtTheirFirstRequest() {
		this.runner.run((context) -> {
			assertThat(created(context)).isEmpty();
			assertThat(http(context).get().uri("/api/v1/group")).hasStatusOk();
			assertThat(created(context)).singleElement().asString().endsWith("GroupController");
		});
	}

	private static List<String> created(AssertableWebApplicationContext context) {
		return List.of(context.getBeanDefinitionNames())
			.stream()
			.filter((name) -> name.startsWith("io.tutti") && name.endsWith("Controller"))
			.filter(context.getSourceApplicationContext(ConfigurableWebApplicationContext.class)
				.getBeanFactory()::containsSingleton)
			.toList();
	}

	@ParameterizedTest
	@CsvSource({ "tutti.http.enabled, RestInterceptors", "tutti.page.enabled, PageController",
			"tutti.metrics.enabled, CollectiveMetrics", "tutti.health.enabled, GroupHealthIndicator",
			"tutti.tracing.enabled, CollectiveTracing", "management.health.group.enabled, GroupHealthIndicator" })
	void everyPartHasItsSwitch(String property, String type) {
		this.runner.run((context) -> assertThat(types(context)).contains(type));
		this.runner.withPropertyValues(property + "=false").run((context) -> {
			assertThat(types(context)).doesNotContain(type);
			assertThat(context).hasSingleBean(GroupLifecycle.class);
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "tutti.enabled", "tutti.http.enabled", "tutti.page.enabled", "tutti.metrics.enabled",
			"tutti.health.enabled", "tutti.tracing.enabled" })
	void aSwitchTakesEverySpellingAndNoOtherText(String property) {
		for (String on : List.of("1", "yes", "on", "TRUE", "")) {
			this.runner.withPropertyValues(property + "=" + on)
				.run((context) -> assertThat(types(context)).contains("RestInterceptors", "PageController",
						"CollectiveMetrics", "GroupHealthIndicator", "CollectiveTracing"));
		}
		this.runner.withPropertyValues(property + "=fasle")
			.run((context) -> assertThat(context).getFailure()
				.extracting((failure) -> StartupFailures.explain((RuntimeException) failure))
				.isInstanceOf(BadConfigurationException.class)
				.asString()
				.contains(property + "=fasle is not true or false"));
	}

	@Test
	void nothingOfTuttiIsDefinedWhereItIsDisabledOrTheApplicationHasItsOwnGroup() {
		this.runner.withPropertyValues("tutti.enabled=false").run((context) -> {
			assertThat(context).doesNotHaveBean(ProcessGroup.class)
				.doesNotHaveBean(GroupLifecycle.class)
				.doesNotHaveBean(HttpProperties.class)
				.doesNotHaveBean(MeterBinder.class);
			assertThat(context.getBeansOfType(HealthIndicator.class)).doesNotContainKey("groupHealthIndicator");
		});
		this.runner.withUserConfiguration(ProcessGroupAutoConfigurationTest.OwnGroup.class)
			.run((context) -> assertThat(context).hasSingleBean(ProcessGroup.class)
				.doesNotHaveBean(HttpProperties.class)
				.doesNotHaveBean(MeterBinder.class));
	}

	@ParameterizedTest
	@CsvSource({ "io.micrometer", "io.opentelemetry", "io.swagger", "org.springdoc", "picocli",
			"org.springframework.boot.health", "org.springframework.boot.actuate", "org.springframework.boot.tomcat" })
	void theInterfaceNeedsNoOtherLibrary(String missing) {
		Consumer<AssertableWebApplicationContext> served = (
				context) -> assertThat(http(context).get().uri("/api/v1/group")).hasStatusOk();
		new WebApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DispatcherServletAutoConfiguration.class,
					WebMvcAutoConfiguration.class, HttpMessageConvertersAutoConfiguration.class,
					JacksonAutoConfiguration.class, ProcessGroupAutoConfiguration.class,
					GroupHealthAutoConfiguration.class, RankEndpointAutoConfiguration.class,
					GroupMetricsAutoConfiguration.class, PageAutoConfiguration.class,
					FailureFileAutoConfiguration.class, RestAutoConfiguration.class,
					RestSecurityAutoConfiguration.class, CollectiveTracingAutoConfiguration.class))
			.withClassLoader(new FilteredClassLoader(missing))
			.run(served::accept);
	}

	@Test
	void beansOfTheApplicationMayHaveTheNamesOfTuttisMethods() {
		WebApplicationContextRunner named = this.runner;
		for (String name : List.of("timeouts", "sharedToken", "engineSettings", "communicator", "tokenCheck",
				"accessInterceptor", "restInterceptors", "clientConnections", "processGroup", "failureFile")) {
			named = named.withBean(name, Object.class, Object::new);
		}
		named.run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(http(context).get().uri("/api/v1/group")).hasStatusOk();
		});
	}

	/** The names of two health indicators are those of their components. */
	@Test
	void theNamesOfTuttisBeansSayThatTheyAreTuttis() {
		this.runner.run((context) -> {
			ConfigurableListableBeanFactory beans = context
				.getSourceApplicationContext(ConfigurableWebApplicationContext.class)
				.getBeanFactory();
			assertThat(Stream.of(context.getBeanDefinitionNames())
				.filter((name) -> isOfTutti(beans.getBeanDefinition(name)))
				.filter((name) -> !name.startsWith("tutti") && !name.contains("io.tutti.")))
				.containsExactlyInAnyOrder("groupHealthIndicator", "engineHealthIndicator");
		});
	}

	private static boolean isOfTutti(BeanDefinition bean) {
		String source = String.valueOf(bean.getResourceDescription());
		return source.contains("io.tutti.service.") && !source.contains("HostApplicationTest");
	}

	private static List<String> types(AssertableWebApplicationContext context) {
		return List.of(context.getBeanDefinitionNames())
			.stream()
			.map(context::getType)
			.filter((type) -> type != null)
			.map(Class::getSimpleName)
			.toList();
	}

	private static MockMvcTester http(AssertableWebApplicationContext context) {
		context.getBean(ProcessGroup.class).barrier();
		return MockMvcTester.from(context);
	}

	private static MvcTestResult barrier(MockMvcTester http, String basePath, String authorization) {
		MockMvcTester.MockMvcRequestBuilder request = request(http, basePath);
		return ((authorization != null) ? request.header("Authorization", authorization) : request).exchange();
	}

	private static MockMvcTester.MockMvcRequestBuilder request(MockMvcTester http, String basePath) {
		return http.post().uri(basePath + "/barrier").contentType(MediaType.APPLICATION_JSON).content(BARRIER);
	}

	@Configuration(proxyBeanMethods = false)
	static class Host {

		@Bean
		OwnController ownController() {
			return new OwnController();
		}

	}

	@RestController
	static class OwnController {

		@PostMapping({ "/own", "/api/v1/own" })
		String own() {
			return "own";
		}

		@PostMapping("/fail")
		String fail() {
			throw new IllegalArgumentException("the application's own");
		}

	}

	@RestControllerAdvice
	static class OwnAdvice {

		@ExceptionHandler
		@ResponseStatus(HttpStatus.PAYMENT_REQUIRED)
		String any(Exception ex) {
			return "own " + ex.getMessage();
		}

	}

}
