package io.tutti.service.page;

import io.micrometer.observation.ObservationPredicate;
import io.tutti.service.autoconfigure.ProcessGroupAutoConfiguration;
import io.tutti.service.config.ConditionalOnSwitch;
import io.tutti.service.group.GroupLifecycle;
import io.tutti.service.recorder.TrainingWatch;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.server.observation.ServerRequestObservationContext;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.util.UriComponentsBuilder;

/**
 * The live page, at {@code /} of Tutti's own server and at {@code /tutti/} of another
 * application's.
 */
@AutoConfiguration(after = ProcessGroupAutoConfiguration.class)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass({ DispatcherServlet.class, JsonMapper.class })
@ConditionalOnBean(GroupLifecycle.class)
@ConditionalOnSwitch("tutti.page.enabled")
@Import({ PageController.class, PageFeed.class, PageHistory.class, PageLinks.class, PageStates.class })
public class PageAutoConfiguration {

	@Bean("tuttiTrainingWatch")
	@ConditionalOnMissingBean
	TrainingWatch trainingWatch() {
		return new TrainingWatch();
	}

	/**
	 * Excludes the event stream from meters and traces: its duration is how long a page
	 * was open, and its end would be reported as an error.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(ObservationPredicate.class)
	static class Unobserved {

		@Bean("tuttiEventsOfThePageAreNotObserved")
		ObservationPredicate eventsOfThePageAreNotObserved(@Value(PageController.PATH) String path) {
			String events = UriComponentsBuilder.fromPath(path).path(PageController.EVENTS).build().getPath();
			return (_, context) -> !(context instanceof ServerRequestObservationContext request
					&& request.getCarrier().getRequestURI().equals(request.getCarrier().getContextPath() + events));
		}

	}

}
