package io.tutti.engine.backend.nccl;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.constant.ConstantDesc;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.tutti.ReduceOp;
import io.tutti.engine.device.DeviceDataType;
import io.tutti.training.SharesLibtorch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * {@link Nccl} matches the preset's functions and constants. Reads the preset's classes
 * without initializing them, which would need a driver.
 */
@Timeout(60)
@SharesLibtorch
class PresetDriftTest {

	private static final String PRESET = "org.bytedeco.cuda.global.nccl";

	static Stream<Method> ourCalls() {
		return Stream.of(Nccl.class.getDeclaredMethods())
			.filter((method) -> !method.isSynthetic() && !method.getName().equals("enqueue"));
	}

	@ParameterizedTest
	@MethodSource("ourCalls")
	void everyCallExistsInThePreset(Method ours) {
		List<String> expected = Stream.of(ours.getParameters()).map((parameter) -> kind(parameter.getType())).toList();
		assertThat(presets(theirName(ours.getName()))).as("ncclXxx of %s", ours).anySatisfy((theirs) -> {
			assertThat(answer(theirs)).isEqualTo(answer(ours));
			assertThat(Arrays.stream(theirs.getParameterTypes()).map(PresetDriftTest::kind).toList())
				.usingElementComparator((one, other) -> fits(one, other) ? 0 : 1)
				.containsExactlyElementsOf(inTheirOrder(ours.getName(), expected));
		});
	}

	/**
	 * A collective has its buffers, count and type, then codes, communicator and stream.
	 */
	@ParameterizedTest
	@CsvSource({ "ncclAllReduce, 2", "ncclBroadcast, 2", "ncclReduce, 3", "ncclAllGather, 1", "ncclReduceScatter, 2",
			"ncclGather, 2", "ncclScatter, 2", "ncclAlltoAll, 1" })
	void everyCollectiveExistsInThePreset(String name, int codes) {
		List<String> expected = Stream
			.of(List.of("address", "address", "number"), Collections.nCopies(codes, "int"),
					List.of("address", "address"))
			.flatMap(List::stream)
			.toList();
		assertThat(presets(name)).anySatisfy(
				(theirs) -> assertThat(Arrays.stream(theirs.getParameterTypes()).map(PresetDriftTest::kind).toList())
					.isEqualTo(expected));
	}

	@ParameterizedTest
	@EnumSource(NcclFunction.class)
	void everyOptionalFunctionExistsInThePreset(NcclFunction function) {
		assertThat(presets(function.symbol())).isNotEmpty();
	}

	@ParameterizedTest
	@EnumSource(DeviceDataType.class)
	void everyTypeHasNcclsCode(DeviceDataType type) throws Exception {
		String name = switch (type) {
			case FLOAT8_E4M3 -> "ncclFloat8e4m3";
			case FLOAT8_E5M2 -> "ncclFloat8e5m2";
			default -> "nccl" + type.name().charAt(0) + type.name().substring(1).toLowerCase(Locale.ROOT);
		};
		assertThat(NcclCodes.of(type)).isEqualTo(constant(name));
	}

	@ParameterizedTest
	@EnumSource(value = ReduceOp.class, names = { "SUM", "PRODUCT", "MIN", "MAX", "AVERAGE" })
	void everyOperatorHasNcclsCode(ReduceOp op) throws Exception {
		String name = switch (op) {
			case SUM -> "ncclSum";
			case PRODUCT -> "ncclProd";
			case MIN -> "ncclMin";
			case MAX -> "ncclMax";
			case AVERAGE -> "ncclAvg";
			default -> throw new IllegalArgumentException("NCCL has no " + op);
		};
		assertThat(NcclCodes.of(op)).isEqualTo(constant(name));
	}

	@ParameterizedTest
	@EnumSource(value = ReduceOp.class, names = { "BITWISE_.*", "LOGICAL_.*" }, mode = EnumSource.Mode.MATCH_ANY)
	void anOperatorThatNcclLacksIsRefused(ReduceOp op) {
		assertThatThrownBy(() -> NcclCodes.of(op)).isInstanceOf(UnsupportedOperationException.class)
			.hasMessageContaining(op.label());
	}

	@ParameterizedTest
	@EnumSource(NcclResult.class)
	void everyResultHasNcclsCode(NcclResult result) throws Exception {
		StringBuilder name = new StringBuilder("nccl");
		for (String word : result.name().split("_")) {
			name.append(word.charAt(0)).append(word.substring(1).toLowerCase(Locale.ROOT));
		}
		assertThat(result.ordinal()).isEqualTo(constant(name.toString()));
		assertThat(NcclResult.of(result.ordinal())).isSameAs(result);
	}

	@Test
	void theFlagsHaveNcclsValues() throws Exception {
		assertThat(NcclCodes.NO_COLOR).isEqualTo(constant("NCCL_SPLIT_NOCOLOR"));
		assertThat(NcclCodes.SHRINK_DEFAULT).isEqualTo(constant("NCCL_SHRINK_DEFAULT"));
		assertThat(NcclCodes.SHRINK_ABORT).isEqualTo(constant("NCCL_SHRINK_ABORT"));
		assertThat(UniqueId.BYTES).isEqualTo(constant("NCCL_UNIQUE_ID_BYTES"));
	}

	@Test
	void onlyThePresetClassesUseThePreset() {
		noClasses().that()
			.haveNameNotMatching(".*\\.Preset[^.]*")
			.should()
			.dependOnClassesThat()
			.resideInAPackage("org.bytedeco..")
			.check(new ClassFileImporter().withImportOption(new ImportOption.DoNotIncludeTests())
				.importPackages("io.tutti.engine"));
	}

	private static String theirName(String ours) {
		return "nccl" + Character.toUpperCase(ours.charAt(0)) + ours.substring(1);
	}

	/** The preset's parameters, where {@link Nccl} has fewer or combines two in one. */
	private static List<String> inTheirOrder(String name, List<String> kinds) {
		return switch (name) {
			case "commInitRankConfig" -> List.of("address", "int", "address", "int", "address");
			case "commInitAll" -> List.of("address", "int", "address");
			case "commSplit" -> List.of("address", "int", "int", "address", "address");
			case "commShrink" -> List.of("address", "address", "int", "address", "address", "int");
			case "commRegister" -> List.of("address", "address", "number", "address");
			case "memAlloc" -> List.of("address", "number");
			case "redOpCreatePreMulSum" -> List.of("address", "address", "int", "int", "address");
			default -> kinds;
		};
	}

	/** A {@code long} of {@link Nccl} is an address or a number in the preset. */
	private static boolean fits(String one, String other) {
		return one.equals(other) || one.equals("number") && other.equals("address")
				|| one.equals("address") && other.equals("number");
	}

	private static String kind(Class<?> type) {
		if (type == int.class) {
			return "int";
		}
		return (type == long.class) ? "number" : "address";
	}

	private static String answer(Method method) {
		return (method.getReturnType() == int.class) ? "code" : "text";
	}

	private static List<Method> presets(String name) {
		try {
			return Stream.of(Class.forName(PRESET, false, PresetDriftTest.class.getClassLoader()).getMethods())
				.filter((method) -> method.getName().equals(name) && Modifier.isStatic(method.getModifiers()))
				.toList();
		}
		catch (ClassNotFoundException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static int constant(String name) throws IOException {
		try (InputStream bytes = PresetDriftTest.class.getResourceAsStream("/" + PRESET.replace('.', '/') + ".class")) {
			ClassModel model = ClassFile.of().parse(bytes.readAllBytes());
			ConstantDesc value = model.fields()
				.stream()
				.filter((field) -> field.fieldName().equalsString(name))
				.findFirst()
				.orElseThrow(() -> new AssertionError("the preset has no " + name))
				.findAttribute(Attributes.constantValue())
				.orElseThrow(() -> new AssertionError(name + " is not known before the preset is started"))
				.constant()
				.constantValue();
			return (int) value;
		}
	}

}
