package io.tutti.service.config;

import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * The condition of {@link ConditionalOnSwitch}.
 */
final class SwitchCondition extends SpringBootCondition {

	@Override
	public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
		String name = metadata.getAnnotations().get(ConditionalOnSwitch.class).getString("value");
		boolean on = Switch.isOn(context.getEnvironment(), name, true);
		return new ConditionOutcome(on, name + (on ? " is on" : " is off"));
	}

}
