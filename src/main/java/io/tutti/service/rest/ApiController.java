package io.tutti.service.rest;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.context.annotation.Lazy;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * A controller of the REST interface. Its paths are relative to the base path. It is
 * created at its first request.
 */
@Lazy
@RestController
@RequestMapping("${tutti.http.base-path:/api/v1}")
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@interface ApiController {

}
