package io.tutti.service.autoconfigure;

import java.util.List;

import io.tutti.ProcessGroup;
import io.tutti.service.rest.RestAutoConfiguration;
import io.tutti.service.rest.RestSecurityAutoConfiguration;
import jakarta.servlet.Filter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.http.converter.autoconfigure.HttpMessageConvertersAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableWebApplicationContext;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.webmvc.autoconfigure.DispatcherServletAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configuration.EnableWebSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application that secures its paths with Spring Security.
 */
@Timeout(120)
class HostSecurityTest {

	private static final String TOKEN = "Bearer open sesame";

	private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DispatcherServletAutoConfiguration.class,
				WebMvcAutoConfiguration.class, HttpMessageConvertersAutoConfiguration.class,
				JacksonAutoConfiguration.class, ProcessGroupAutoConfiguration.class, RestAutoConfiguration.class,
				RestSecurityAutoConfiguration.class))
		.withPropertyValues("tutti.security.token=open sesame");

	@Test
	void theApplicationsRulesDecideWhereTheyCoverThePaths() {
		this.runner.withUserConfiguration(Users.class, EveryPath.class).run((context) -> {
			MockMvcTester http = http(context);
			assertThat(barrier(http, null)).hasStatus(HttpStatus.UNAUTHORIZED);
			assertThat(barrier(http, TOKEN)).hasStatus(HttpStatus.UNAUTHORIZED);
			assertThat(barrier(http, basic("guest"))).hasStatus(HttpStatus.FORBIDDEN);
			assertThat(barrier(http, basic("operator"))).hasStatusOk().bodyText().contains("\"arrived\":1");
			assertThat(http.get().uri("/api/v1/group")).hasStatus(HttpStatus.UNAUTHORIZED);
			assertThat(http.get().uri("/api/v1/group").header(HttpHeaders.AUTHORIZATION, basic("operator")))
				.hasStatusOk();
		});
	}

	@Test
	void theTokenAppliesWhereTheApplicationsRulesDoNotCoverThePaths() {
		this.runner.withUserConfiguration(Users.class, OtherPaths.class).run((context) -> {
			MockMvcTester http = http(context);
			assertThat(barrier(http, null)).hasStatus(HttpStatus.UNAUTHORIZED)
				.hasContentType(MediaType.APPLICATION_PROBLEM_JSON);
			assertThat(barrier(http, "Bearer wrong")).hasStatus(HttpStatus.FORBIDDEN);
			assertThat(barrier(http, basic("operator"))).hasStatus4xxClientError();
			assertThat(barrier(http, TOKEN)).hasStatusOk();
		});
	}

	/** A user may be logged in for other reasons than to operate the job. */
	@Test
	void aUserWithoutTheRoleNeedsTheToken() {
		for (Class<?> rule : List.of(Everyone.class, AnyUser.class)) {
			this.runner.withUserConfiguration(Users.class, rule).run((context) -> {
				MockMvcTester http = http(context);
				assertThat(barrier(http, basic("guest"))).hasStatus(HttpStatus.UNAUTHORIZED)
					.hasContentType(MediaType.APPLICATION_PROBLEM_JSON);
				assertThat(barrier(http, basic("operator"))).hasStatusOk();
			});
		}
	}

	@Test
	void thePropertyNamesTheRoleThatNeedsNoToken() {
		this.runner.withUserConfiguration(Users.class, AnyUser.class)
			.withPropertyValues("tutti.http.operator-role=GUEST")
			.run((context) -> {
				MockMvcTester http = http(context);
				assertThat(barrier(http, basic("guest"))).hasStatusOk();
				assertThat(barrier(http, basic("operator"))).hasStatus(HttpStatus.UNAUTHORIZED);
			});
	}

	/** A browser sends a user's session or password with requests of any page. */
	@Test
	void aRequestOfAnotherOriginIsRefusedForEveryUser() {
		this.runner.withUserConfiguration(Users.class, AnyUser.class).run((context) -> {
			MockMvcTester http = http(context);
			assertThat(
					request(http, basic("operator")).header(HttpHeaders.ORIGIN, "https://elsewhere.example").exchange())
				.hasStatus(HttpStatus.FORBIDDEN)
				.bodyText()
				.contains("auth-failed", "https://elsewhere.example");
		});
	}

	/** A chain with no rule authorizes nothing, so that the token still applies. */
	@Test
	void theTokenAppliesBehindAChainThatDoesNotAuthorize() {
		this.runner.withUserConfiguration(Users.class, NoRules.class).run((context) -> {
			MockMvcTester http = http(context);
			assertThat(barrier(http, null)).hasStatus(HttpStatus.UNAUTHORIZED);
			assertThat(barrier(http, TOKEN)).hasStatusOk();
		});
	}

	/** A rule that everyone passes authorizes nobody, so that the token still applies. */
	@Test
	void theTokenAppliesBehindARuleThatEveryonePasses() {
		this.runner.withUserConfiguration(Users.class, Everyone.class).run((context) -> {
			MockMvcTester http = http(context);
			assertThat(barrier(http, null)).hasStatus(HttpStatus.UNAUTHORIZED);
			assertThat(barrier(http, TOKEN)).hasStatusOk();
		});
	}

	private static MockMvcTester http(AssertableWebApplicationContext context) {
		context.getBean(ProcessGroup.class).barrier();
		Filter chain = context.getBean("springSecurityFilterChain", Filter.class);
		return MockMvcTester.from(context, (builder) -> builder.addFilters(chain).build());
	}

	private static MvcTestResult barrier(MockMvcTester http, String authorization) {
		return request(http, authorization).exchange();
	}

	private static MockMvcTester.MockMvcRequestBuilder request(MockMvcTester http, String authorization) {
		MockMvcTester.MockMvcRequestBuilder request = http.post()
			.uri("/api/v1/barrier")
			.contentType(MediaType.APPLICATION_JSON)
			.content("{\"label\":\"x\",\"timeoutMs\":20000}");
		return (authorization != null) ? request.header(HttpHeaders.AUTHORIZATION, authorization) : request;
	}

	private static String basic(String user) {
		return "Basic " + HttpHeaders.encodeBasicAuth(user, "secret", null);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableWebSecurity
	static class Users {

		@Bean
		UserDetailsService users() {
			return new InMemoryUserDetailsManager(
					User.withUsername("operator").password("{noop}secret").roles("TUTTI_OPERATOR").build(),
					User.withUsername("guest").password("{noop}secret").roles("GUEST").build());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class EveryPath {

		@Bean
		SecurityFilterChain chain(HttpSecurity http) throws Exception {
			return http.csrf((csrf) -> csrf.disable())
				.httpBasic(Customizer.withDefaults())
				.authorizeHttpRequests((requests) -> requests.anyRequest().hasRole("TUTTI_OPERATOR"))
				.build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OtherPaths {

		@Bean
		SecurityFilterChain chain(HttpSecurity http) throws Exception {
			return http.securityMatcher("/own/**")
				.csrf((csrf) -> csrf.disable())
				.authorizeHttpRequests((requests) -> requests.anyRequest().hasRole("TUTTI_OPERATOR"))
				.build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Everyone {

		@Bean
		SecurityFilterChain chain(HttpSecurity http) throws Exception {
			return http.csrf((csrf) -> csrf.disable())
				.httpBasic(Customizer.withDefaults())
				.authorizeHttpRequests((requests) -> requests.anyRequest().permitAll())
				.build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class AnyUser {

		@Bean
		SecurityFilterChain chain(HttpSecurity http) throws Exception {
			return http.csrf((csrf) -> csrf.disable())
				.httpBasic(Customizer.withDefaults())
				.authorizeHttpRequests((requests) -> requests.anyRequest().authenticated())
				.build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class NoRules {

		@Bean
		SecurityFilterChain chain(HttpSecurity http) throws Exception {
			return http.csrf((csrf) -> csrf.disable()).build();
		}

	}

}
