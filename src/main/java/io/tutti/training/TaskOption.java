package io.tutti.training;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Describes an option of a {@link TrainingTask}: a component of the record that its
 * constructor takes. The component {@code hiddenUnits} is the option
 * {@code --hidden-units}. Its limits are constraints of Bean Validation, or checks in the
 * record's constructor, which throw {@link IllegalArgumentException}.
 */
@Documented
@Target(ElementType.RECORD_COMPONENT)
@Retention(RetentionPolicy.RUNTIME)
public @interface TaskOption {

	/**
	 * Text for {@code --help}.
	 * @return the description
	 */
	String value();

	/**
	 * Default as text. Without one the option is required, unless its component is a
	 * reference that may be null ({@link #optional()}).
	 * @return the text, empty if there is none
	 */
	String defaultValue() default "";

	/**
	 * Whether the option may be absent, which passes {@code null}.
	 * @return {@code true} if it may be missing
	 */
	boolean optional() default false;

}
