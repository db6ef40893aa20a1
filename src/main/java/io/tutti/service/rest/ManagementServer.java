package io.tutti.service.rest;

import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextType;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.context.annotation.Import;

/**
 * Applies the settings of Tutti's own web server to the actuator's own port too, if it
 * has one.
 */
@ManagementContextConfiguration(value = ManagementContextType.CHILD, proxyBeanMethods = false)
@ConditionalOnBean(AccessFilter.class)
@Import(WebServerConfiguration.class)
class ManagementServer {

}
