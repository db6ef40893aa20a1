package io.tutti;

import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.stream.BaseStream;
import java.util.stream.Collectors;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import io.tutti.engine.dispatch.DefaultProcessGroup;
import io.tutti.engine.spi.GroupBackend;
import io.tutti.engine.spi.PointToPoint;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The import rules between packages, and naming rules. A rule about a package that does
 * not exist yet passes until the package gets its first class.
 */
@Timeout(120)
class ArchitectureTest {

	private static JavaClasses classes;

	@BeforeAll
	static void importClasses() {
		classes = new ClassFileImporter().withImportOption(new ImportOption.DoNotIncludeTests())
			.importPackages("io.tutti");
	}

	@Test
	void theEngineIsPlainJava() {
		check(classes().that()
			.resideInAPackage("io.tutti.engine..")
			.should()
			.onlyDependOnClassesThat(resideInAnyPackage("io.tutti", "io.tutti.engine..", "java..", "javax.crypto..",
					"javax.net..", "jdk.incubator.vector..", "jdk.net..", "org.jspecify..", "org.bytedeco..")));
	}

	@Test
	void theEngineUsesNoLogger() {
		check(noClasses().that()
			.resideInAPackage("io.tutti.engine..")
			.should()
			.dependOnClassesThat(resideInAnyPackage("java.util.logging..").or(platformLoggers())));
	}

	@Test
	void thePublicApiImportsNoOtherPackage() {
		check(noClasses().that()
			.resideInAPackage("io.tutti")
			.should()
			.dependOnClassesThat(resideInAnyPackage("io.tutti.*..")));
	}

	@Test
	void theEngineRootImportsNoSubpackage() {
		check(noClasses().that()
			.resideInAPackage("io.tutti.engine")
			.should()
			.dependOnClassesThat(resideInAnyPackage("io.tutti.engine.*..")));
	}

	@Test
	void theBackendInterfaceImportsOnlyThePublicApi() {
		check(noClasses().that()
			.resideInAPackage("io.tutti.engine.spi..")
			.should()
			.dependOnClassesThat(resideInAnyPackage("io.tutti.*..")
				.and(DescribedPredicate.not(resideInAnyPackage("io.tutti.engine.spi..")))));
	}

	@ParameterizedTest
	@ValueSource(strings = { "transport", "p2p", "algorithm", "failure", "control", "bootstrap" })
	void packagesBelowTheCallPathDoNotImportDispatch(String name) {
		check(noClasses().that()
			.resideInAPackage("io.tutti.engine." + name + "..")
			.should()
			.dependOnClassesThat(resideInAnyPackage("io.tutti.engine.dispatch..", "io.tutti.engine.backend..")));
	}

	@ParameterizedTest
	@ValueSource(strings = { "engine.backend.mpi", "testing", "training" })
	void otherInterfacesAreBuiltOnTheProcessGroup(String name) {
		check(noClasses().that()
			.resideInAPackage("io.tutti." + name + "..")
			.should()
			.dependOnClassesThat(assignableTo(DefaultProcessGroup.class).or(assignableTo(GroupBackend.class))
				.or(assignableTo(PointToPoint.class))));
	}

	@ParameterizedTest
	@ValueSource(strings = { "launch", "training", "benchmark", "testing" })
	void packagesAroundTheEngineImportOnlyTheEngine(String name) {
		check(noClasses().that()
			.resideInAPackage("io.tutti." + name + "..")
			.should()
			.dependOnClassesThat(resideInAnyPackage("io.tutti..").and(DescribedPredicate
				.not(resideInAnyPackage("io.tutti", "io.tutti.engine..", "io.tutti." + name + "..")))));
	}

	@Test
	void whatProgramsImportForTrainingDependsOnNoOtherPartOfIt() {
		trainingImportsOnly("", "internal");
		trainingImportsOnly(".internal");
	}

	@Test
	void checkpointsTablesAndJobsOfTrainingDependInOneDirection() {
		trainingImportsOnly(".checkpoint", "", "internal");
		trainingImportsOnly(".table", "", "internal");
		trainingImportsOnly(".job", "", "internal", "checkpoint");
		trainingImportsOnly(".task", "", "table");
		trainingImportsOnly(".benchmark", "", "internal");
	}

	/** Of the packages of training, one imports only itself and these. */
	private static void trainingImportsOnly(String suffix, String... allowed) {
		List<String> packages = new ArrayList<>(List.of("io.tutti.training" + suffix));
		for (String name : allowed) {
			packages.add(name.isEmpty() ? "io.tutti.training" : "io.tutti.training." + name);
		}
		check(noClasses().that()
			.resideInAPackage("io.tutti.training" + suffix)
			.should()
			.dependOnClassesThat(resideInAnyPackage("io.tutti.training..")
				.and(DescribedPredicate.not(resideInAnyPackage(packages.toArray(String[]::new))))));
	}

	@Test
	void noPackageImportsTheService() {
		check(noClasses().that()
			.resideOutsideOfPackage("io.tutti.service..")
			.should()
			.dependOnClassesThat(resideInAnyPackage("io.tutti.service..")));
	}

	@Test
	void onlyTheServiceImportsSpring() {
		check(noClasses().that()
			.resideOutsideOfPackage("io.tutti.service..")
			.should()
			.dependOnClassesThat(resideInAnyPackage("org.springframework..", "org.slf4j..", "io.micrometer..")));
	}

	@Test
	void onlyCommandsImportThePicocliLibrary() {
		check(noClasses().that()
			.resideOutsideOfPackages("io.tutti.service", "io.tutti.service.command..")
			.should()
			.dependOnClassesThat(resideInAnyPackage("picocli..")));
	}

	@Test
	void onlyTrainingAndNcclImportTheNativePresets() {
		check(noClasses().that()
			.resideOutsideOfPackages("io.tutti.training..", "io.tutti.engine.backend.nccl..")
			.should()
			.dependOnClassesThat(resideInAnyPackage("org.bytedeco..")));
	}

	@Test
	void onlyKernelsImportTheVectorModule() {
		check(noClasses().that()
			.resideOutsideOfPackage("io.tutti.engine.algorithm.kernel")
			.should()
			.dependOnClassesThat(resideInAnyPackage("jdk.incubator.vector..")));
	}

	@Test
	void transportsNeverImportEachOther() {
		check(slices().matching("io.tutti.engine.transport.(*)..").should().notDependOnEachOther());
	}

	@Test
	void packagesFormNoCycles() {
		check(slices().matching("io.tutti.(**)").should().beFreeOfCycles());
	}

	@Test
	void noClassUsesJavaSerialization() {
		check(noClasses().should()
			.dependOnClassesThat()
			.areAssignableTo(ObjectInputStream.class)
			.orShould()
			.dependOnClassesThat()
			.areAssignableTo(ObjectOutputStream.class));
	}

	@Test
	void everyPackageIsNullMarked() {
		check(classes().should(resideInANullMarkedPackage()));
	}

	@Test
	void noClassNameEndsInAGenericWord() {
		check(noClasses().should()
			.haveSimpleNameEndingWith("Util")
			.orShould()
			.haveSimpleNameEndingWith("Utils")
			.orShould()
			.haveSimpleNameEndingWith("Helper")
			.orShould()
			.haveSimpleNameEndingWith("Manager")
			.orShould()
			.haveSimpleNameEndingWith("Impl"));
	}

	/** Names of files and JSON must not have the digits of the user's language. */
	@Test
	void textIsFormattedInNoLanguage() {
		check(noClasses().should()
			.callMethod(String.class, "format", String.class, Object[].class)
			.orShould()
			.callMethod(String.class, "formatted", Object[].class)
			.orShould()
			.callMethod(PrintStream.class, "printf", String.class, Object[].class)
			.orShould()
			.callMethod(PrintStream.class, "format", String.class, Object[].class)
			.orShould()
			.callMethod(String.class, "toLowerCase")
			.orShould()
			.callMethod(String.class, "toUpperCase"));
	}

	/**
	 * A machine of two cores has one thread in the common pool, which the application may
	 * block: a lost rank would not be reported.
	 */
	@Test
	void nothingRunsInTheCommonPool() {
		check(noClasses().should()
			.callMethodWhere(DescribedPredicate.describe("runs a task in the common pool",
					(call) -> call.getTargetOwner().isEquivalentTo(CompletableFuture.class)
							&& (call.getName().endsWith("Async") || call.getName().equals("delayedExecutor"))
							&& call.getTarget()
								.getRawParameterTypes()
								.stream()
								.noneMatch((type) -> type.isEquivalentTo(Executor.class))))
			.orShould()
			.callMethodWhere(DescribedPredicate.describe("makes a stream parallel",
					(call) -> call.getName().equals("parallelStream") || call.getName().equals("parallel")
							&& call.getTargetOwner().isAssignableTo(BaseStream.class))));
	}

	@Test
	void noSimpleNameIsUsedTwice() {
		Map<String, List<String>> names = classes.stream()
			.filter((type) -> type.isTopLevelClass() && !type.getSimpleName().equals("package-info"))
			.collect(Collectors.groupingBy(JavaClass::getSimpleName,
					Collectors.mapping(JavaClass::getName, Collectors.toList())));
		assertThat(names.values()).allSatisfy((same) -> assertThat(same).hasSize(1));
	}

	private static void check(ArchRule rule) {
		rule.allowEmptyShould(true).check(classes);
	}

	private static DescribedPredicate<JavaClass> platformLoggers() {
		return DescribedPredicate.describe("platform loggers",
				(type) -> type.isEquivalentTo(System.Logger.class) || type.isEquivalentTo(System.LoggerFinder.class));
	}

	private static ArchCondition<JavaClass> resideInANullMarkedPackage() {
		return new ArchCondition<>("reside in a package whose package-info says @NullMarked") {
			@Override
			public void check(JavaClass type, ConditionEvents events) {
				boolean marked = type.getPackage().isAnnotatedWith(NullMarked.class);
				events.add(new SimpleConditionEvent(type, marked, type.getPackageName() + " is not @NullMarked"));
			}
		};
	}

}
