package io.tutti.service.config;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.context.annotation.Conditional;

/**
 * Matches unless a boolean property is off. In contrast to Spring's own condition, its
 * values are those of a bound property, and any other value is a configuration error.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Conditional(SwitchCondition.class)
public @interface ConditionalOnSwitch {

	/** Name of the property. */
	String value();

}
