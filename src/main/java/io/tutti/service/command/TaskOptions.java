package io.tutti.service.command;

import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.tutti.training.TaskOption;
import jakarta.validation.Constraint;
import jakarta.validation.ConstraintViolation;
import jakarta.validation.Valid;
import jakarta.validation.Validation;
import jakarta.validation.ValidatorFactory;
import org.hibernate.validator.HibernateValidator;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

import org.springframework.boot.logging.LogLevel;
import org.springframework.boot.logging.LoggingSystem;

/**
 * A task's own options on the command line: one for each component of a record.
 *
 * @param record the record
 */
record TaskOptions(Class<?> record) {

	/** Logs its version, at a time when the log is not yet configured. */
	private static final String VALIDATOR_VERSION = "org.hibernate.validator.internal.util.Version";

	/**
	 * Adds the options to a command.
	 * @return the added options
	 * @throws IllegalArgumentException if the command has an option of that name itself
	 */
	List<OptionSpec> addTo(CommandSpec command) {
		return Arrays.stream(this.record.getRecordComponents()).map((component) -> {
			String name = name(component);
			if (command.findOption(name) != null) {
				throw new IllegalArgumentException("the component " + component.getName() + " of "
						+ this.record.getName() + " would be the option " + name
						+ ", which the command train has itself; rename the component");
			}
			OptionSpec option = option(component);
			command.addOption(option);
			return option;
		}).toList();
	}

	/**
	 * Creates the record from the parsed options.
	 * @throws MissingParameterException if a required option is missing
	 * @throws IllegalArgumentException if the record or one of its constraints rejects a
	 * value; the message names the option, the limit and the value
	 */
	Object read(CommandSpec command) {
		List<OptionSpec> missing = Arrays.stream(this.record.getRecordComponents())
			.filter((component) -> isRequired(component) && value(command, component) == null)
			.map((component) -> command.findOption(name(component)))
			.toList();
		if (!missing.isEmpty()) {
			throw new MissingParameterException(command.commandLine(), List.copyOf(missing), "Missing required option: "
					+ missing.stream().map(OptionSpec::longestName).collect(Collectors.joining(", ")));
		}
		Object options = create(command);
		if (isConstrained()) {
			validate(options);
		}
		return options;
	}

	private Object create(CommandSpec command) {
		try {
			Constructor<?> canonical = this.record.getDeclaredConstructor(
					Stream.of(this.record.getRecordComponents()).map(RecordComponent::getType).toArray(Class[]::new));
			canonical.trySetAccessible();
			return canonical.newInstance(Stream.of(this.record.getRecordComponents())
				.map((component) -> value(command, component))
				.toArray());
		}
		catch (InvocationTargetException ex) {
			throw new IllegalArgumentException(
					(ex.getCause() instanceof IllegalArgumentException refused) ? refused.getMessage()
							: "the options " + this.record.getName() + " cannot be created: " + ex.getCause(),
					ex.getCause());
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalArgumentException("the options " + this.record.getName() + " cannot be created: " + ex,
					ex);
		}
	}

	/**
	 * Starting the validator takes time, which tasks without constraints need not spend.
	 */
	private boolean isConstrained() {
		return Stream.of(this.record.getRecordComponents())
			.flatMap((component) -> Stream.concat(Stream.of(component.getAccessor().getAnnotations()),
					Stream.of(component.getAccessor().getAnnotatedReturnType().getAnnotations())))
			.anyMatch((annotation) -> annotation instanceof Valid
					|| annotation.annotationType().isAnnotationPresent(Constraint.class)
					|| annotation.annotationType().getSimpleName().equals("List"));
	}

	private static void validate(Object options) {
		LoggingSystem.get(TaskOptions.class.getClassLoader()).setLogLevel(VALIDATOR_VERSION, LogLevel.WARN);
		try (ValidatorFactory factory = Validation.byProvider(HibernateValidator.class)
			.configure()
			.locales(Set.of(Locale.ENGLISH))
			.defaultLocale(Locale.ENGLISH)
			.buildValidatorFactory()) {
			Set<ConstraintViolation<Object>> violations = factory.getValidator().validate(options);
			if (!violations.isEmpty()) {
				throw new IllegalArgumentException(violations.stream()
					.sorted(Comparator.comparing((violation) -> violation.getPropertyPath().toString()))
					.map((violation) -> optionName(violation.getPropertyPath().toString()) + " "
							+ violation.getMessage() + ", got " + violation.getInvalidValue())
					.collect(Collectors.joining("; ")));
			}
		}
	}

	private static @Nullable Object value(CommandSpec command, RecordComponent component) {
		return command.findOption(name(component)).getValue();
	}

	private static OptionSpec option(RecordComponent component) {
		TaskOption text = component.getAnnotation(TaskOption.class);
		String fallback = (text != null) ? text.defaultValue() : "";
		OptionSpec.Builder option = OptionSpec.builder(name(component))
			.paramLabel(label(component.getType()))
			.type(boxed(component.getType()))
			.description(description(component, text, fallback));
		if (!fallback.isEmpty()) {
			option.defaultValue(fallback);
		}
		if (List.class.isAssignableFrom(component.getType())
				&& component.getGenericType() instanceof ParameterizedType list
				&& list.getActualTypeArguments()[0] instanceof Class<?> element) {
			option.type(List.class).auxiliaryTypes(element).splitRegex(",");
		}
		if (boxed(component.getType()) == Boolean.class) {
			option.negatable(true).fallbackValue("true");
		}
		return option.build();
	}

	private static String description(RecordComponent component, @Nullable TaskOption text, String fallback) {
		String meaning = (text != null) ? text.value() : "Component " + component.getName() + " of the task's options";
		if (!fallback.isEmpty()) {
			return escaped(meaning + " (default: " + fallback + ").");
		}
		return escaped(meaning + (isRequired(component) ? " (required)." : "."));
	}

	/** The command line formats descriptions. */
	private static String escaped(String text) {
		return text.replace("%", "%%");
	}

	private static boolean isRequired(RecordComponent component) {
		TaskOption text = component.getAnnotation(TaskOption.class);
		return text == null || (text.defaultValue().isEmpty() && !text.optional());
	}

	private static String label(Class<?> type) {
		if (type.isEnum()) {
			return Stream.of(type.getEnumConstants()).map(Object::toString).collect(Collectors.joining("|"));
		}
		if (type == Path.class) {
			return "FILE";
		}
		return switch (boxed(type).getSimpleName()) {
			case "Integer", "Long", "Short", "Byte" -> "N";
			case "Double", "Float" -> "X";
			case "String" -> "TEXT";
			default -> type.getSimpleName().toUpperCase(Locale.ROOT);
		};
	}

	/** A missing value of a primitive type would be 0. */
	private static Class<?> boxed(Class<?> type) {
		return MethodType.methodType(type).wrap().returnType();
	}

	private static String name(RecordComponent component) {
		return optionName(component.getName());
	}

	/** {@code --hidden-units} for {@code hiddenUnits}. */
	private static String optionName(String component) {
		return "--" + component.replaceAll("(?<=[a-z0-9])(?=[A-Z])", "-").toLowerCase(Locale.ROOT);
	}

}
