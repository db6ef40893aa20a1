package io.tutti;

import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

/**
 * Who may import whom, and what no class may be or do. Rules about rooms that are not
 * built yet hold by themselves and bind the first class in them.
 */
@Timeout(120)
class ArchitectureTest {

	private static JavaClasses house;

	@BeforeAll
	static void readTheHouse() {
		house = new ClassFileImporter().withImportOption(new ImportOption.DoNotIncludeTests())
			.importPackages("io.tutti");
	}

	@Test
	void theEngineIsPlainJava() {
		check(classes().that()
			.resideInAPackage("io.tutti.engine..")
			.should()
			.onlyDependOnClassesThat(resideInAnyPackage("io.tutti.engine..", "java..", "javax.crypto..", "javax.net..",
					"jdk.incubator.vector..", "org.jspecify..", "org.bytedeco..")));
	}

	@Test
	void theEngineLogsNothing() {
		check(noClasses().that()
			.resideInAPackage("io.tutti.engine..")
			.should()
			.dependOnClassesThat(resideInAnyPackage("java.util.logging..").or(loggersOfThePlatform())));
	}

	@Test
	void theEnginesRootImportsNoneOfItsRooms() {
		check(noClasses().that()
			.resideInAPackage("io.tutti.engine")
			.should()
			.dependOnClassesThat(resideInAnyPackage("io.tutti.engine.*..")));
	}

	@ParameterizedTest
	@ValueSource(strings = { "launch", "training", "benchmark", "testing" })
	void theRoomsAroundTheEngineImportNothingElseOfOurs(String room) {
		check(noClasses().that()
			.resideInAPackage("io.tutti." + room + "..")
			.should()
			.dependOnClassesThat(resideInAnyPackage("io.tutti..")
				.and(DescribedPredicate.not(resideInAnyPackage("io.tutti.engine..", "io.tutti." + room + "..")))));
	}

	@Test
	void nobodyImportsTheService() {
		check(noClasses().that()
			.resideOutsideOfPackage("io.tutti.service..")
			.should()
			.dependOnClassesThat(resideInAnyPackage("io.tutti.service..")));
	}

	@Test
	void onlyTheServiceKnowsSpring() {
		check(noClasses().that()
			.resideOutsideOfPackage("io.tutti.service..")
			.should()
			.dependOnClassesThat(resideInAnyPackage("org.springframework..", "org.slf4j..", "io.micrometer..")));
	}

	@Test
	void onlyCommandsKnowTheCommandLine() {
		check(noClasses().that()
			.resideOutsideOfPackages("io.tutti.service", "io.tutti.service.command..")
			.should()
			.dependOnClassesThat(resideInAnyPackage("picocli..")));
	}

	@Test
	void onlyTrainingAndNcclKnowTheNativePresets() {
		check(noClasses().that()
			.resideOutsideOfPackages("io.tutti.training..", "io.tutti.engine.backend.nccl..")
			.should()
			.dependOnClassesThat(resideInAnyPackage("org.bytedeco..")));
	}

	@Test
	void onlyKernelsKnowTheVectorModule() {
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
	void nothingIsSerializedByJava() {
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
	void everyClassIsNamedAfterWhatItIs() {
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

	private static void check(ArchRule rule) {
		rule.allowEmptyShould(true).check(house);
	}

	private static DescribedPredicate<JavaClass> loggersOfThePlatform() {
		return DescribedPredicate.describe("loggers of the platform",
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
