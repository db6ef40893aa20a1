package io.tutti.service.http;

import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * The limits of Tutti's own web server.
 */
@Configuration(proxyBeanMethods = false)
@Import(HttpLimits.class)
public class HttpLimitsConfiguration {

}
