package io.tutti.service.command;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringApplication.AbandonedRunException;
import org.springframework.boot.SpringApplicationRunListener;
import org.springframework.boot.autoconfigure.condition.ConditionEvaluationReport;
import org.springframework.boot.autoconfigure.condition.ConditionEvaluationReport.ConditionAndOutcome;
import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.aot.ContextAotProcessor;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.SpringProperties;
import org.springframework.core.env.AbstractEnvironment;
import org.springframework.util.FileSystemUtils;

/**
 * Generates the bean definitions of Tutti's own application while it is built, so that a
 * starting rank need not read and evaluate configuration classes. They are for the
 * application layout alone: in the library they could be those of a host application,
 * whose names are the same.
 */
public final class BeanDefinitionGenerator {

	/**
	 * Conditions on classes, beans and files of the class path, on the kind of
	 * application and on its logging library, which are those of the application layout.
	 */
	private static final Set<String> ON_THE_LAYOUT = Set.of("OnBeanCondition", "OnClassCondition",
			"OnResourceCondition", "GitResourceAvailableCondition", "OnWebApplicationCondition",
			"OnWarDeploymentCondition", "OnEnabledResourceChainCondition", "AncestorsMatchedCondition",
			"LogbackLoggingCondition", "DefaultDispatcherServletCondition", "DispatcherServletRegistrationCondition",
			"NotReactiveWebApplicationCondition", "MultipleNonPrimaryMeterRegistriesCondition",
			"ApplicationStartupCondition", "OnExecutorCondition", "CacheOrGroupedOpenApiCondition",
			"MultipleOpenApiSupportCondition");

	/** Conditions on properties and on profiles. */
	private static final Set<String> ON_PROPERTIES = Set.of("OnPropertyCondition", "OnExpressionCondition",
			"OnThreadingCondition", "OnAvailableEndpointCondition", "OnManagementPortCondition", "SwitchCondition",
			"OnEnabledHealthIndicatorCondition", "OnEnabledInfoContributorCondition", "OnMetricsExportEnabledCondition",
			"OnEnabledTracingExportCondition", "OnEnabledLoggingExportCondition", "ResourceBundleCondition",
			"SpanContextNotDisabledCondition", "OnNcclOrHostFallback",
			"PreferGsonOrJacksonAndJsonbUnavailableCondition", "PreferJackson2OrJacksonUnavailableCondition");

	/** A name in the message of a condition, other than of a class. */
	private static final Pattern NAME = Pattern.compile("(?<![a-z.])(?!org\\.)[a-z][a-z0-9-]*(\\.[a-z][a-z0-9-]*)+");

	private BeanDefinitionGenerator() {
	}

	/**
	 * Writes class files, and the inputs of the conditions. Where one of them may read
	 * what is not among the inputs, it writes none, with a warning.
	 * @param args the name of the application's class, a folder for the sources and one
	 * for the class files, both of which are emptied
	 */
	public static void main(String[] args) throws IOException, ClassNotFoundException {
		Class<?> application = Class.forName(args[0]);
		Path sources = Path.of(args[1]);
		Path classes = Path.of(args[2]);
		FileSystemUtils.deleteRecursively(classes);
		Files.createDirectories(classes);
		// The variables and properties of the build are no part of the application.
		SpringProperties.setFlag(AbstractEnvironment.IGNORE_GETENV_PROPERTY_NAME);
		System.getProperties().keySet().removeIf((name) -> ConditionInputs.isRead(name.toString()));
		SpringApplication spring = RankService.application(application, RankService.JOB_DEFAULTS);
		StringBuilder inputs = new StringBuilder();
		spring.addListeners((ApplicationListener<ApplicationEnvironmentPreparedEvent>) (event) -> inputs
			.append(ConditionInputs.of(event.getEnvironment())));
		GenericApplicationContext context = load(spring);
		new ContextAotProcessor(application, settings(sources)) {
			@Override
			protected GenericApplicationContext prepareApplicationContext(Class<?> type) {
				return context;
			}
		}.process();
		Set<String> unknown = unknown(ConditionEvaluationReport.get(context.getBeanFactory()));
		if (!unknown.isEmpty()) {
			System.err
				.println("Ranks of this build evaluate their conditions when they start, since it is not known what"
						+ " these read: " + String.join(", ", unknown));
			return;
		}
		compile(sources, classes);
		// Last: without it, no rank uses the definitions.
		Path file = classes.resolve(GeneratedBeanDefinitions.INPUTS);
		Files.createDirectories(file.getParent());
		Files.writeString(file, inputs);
	}

	/** Returns the context as it is before it reads the configuration classes. */
	static GenericApplicationContext load(SpringApplication spring) {
		try {
			SpringApplication.withHook((_) -> new SpringApplicationRunListener() {
				@Override
				public void contextLoaded(ConfigurableApplicationContext context) {
					throw new AbandonedRunException(context);
				}
			}, () -> spring.run());
		}
		catch (AbandonedRunException ex) {
			return (GenericApplicationContext) ex.getApplicationContext();
		}
		throw new IllegalStateException("The application has started");
	}

	/**
	 * Returns the evaluated conditions of which is not known what they read, and the
	 * properties that conditions name without being among the inputs.
	 */
	static Set<String> unknown(ConditionEvaluationReport report) {
		Set<String> unknown = new TreeSet<>();
		report.getConditionAndOutcomesBySource().values().forEach((outcomes) -> {
			for (ConditionAndOutcome each : outcomes) {
				String kind = each.getCondition().getClass().getSimpleName();
				if (ON_PROPERTIES.contains(kind)) {
					NAME.matcher(each.getOutcome().getMessage())
						.results()
						.map(MatchResult::group)
						.filter((name) -> !ConditionInputs.isRead(name))
						.forEach(unknown::add);
				}
				else if (!ON_THE_LAYOUT.contains(kind)) {
					unknown.add(kind);
				}
			}
		});
		return unknown;
	}

	/** Metadata for native images goes to the sources, which the build discards. */
	private static ContextAotProcessor.Settings settings(Path sources) {
		return ContextAotProcessor.Settings.builder()
			.sourceOutput(sources.resolve("java"))
			.resourceOutput(sources.resolve("resources"))
			.classOutput(sources.resolve("classes"))
			.groupId("io.tutti")
			.artifactId("tutti")
			.build();
	}

	private static void compile(Path sources, Path classes) throws IOException {
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		try (Stream<Path> tree = Files.walk(sources);
				StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
			List<Path> generated = tree.filter((file) -> file.toString().endsWith(".java")).toList();
			List<String> options = List.of("-proc:none", "-nowarn", "-d", classes.toString(), "-classpath",
					System.getProperty("java.class.path"));
			if (!compiler.getTask(null, files, null, options, null, files.getJavaFileObjectsFromPaths(generated))
				.call()) {
				throw new IllegalStateException("The generated bean definitions do not compile");
			}
		}
	}

}
