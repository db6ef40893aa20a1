package io.tutti.service.page;

import io.tutti.service.autoconfigure.ProcessGroupAutoConfiguration;
import io.tutti.service.group.GroupLifecycle;
import io.tutti.service.recorder.TrainingWatch;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.web.servlet.DispatcherServlet;

/**
 * The live page, at {@code /} of Tutti's own server and at {@code /tutti/} of another
 * application's.
 */
@AutoConfiguration(after = ProcessGroupAutoConfiguration.class)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass({ DispatcherServlet.class, JsonMapper.class })
@ConditionalOnBean(GroupLifecycle.class)
@ConditionalOnBooleanProperty(name = "tutti.page.enabled", matchIfMissing = true)
@Import({ PageController.class, PageFeed.class, PageHistory.class, PageLinks.class, PageStates.class })
public class PageAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	TrainingWatch trainingWatch() {
		return new TrainingWatch();
	}

}
