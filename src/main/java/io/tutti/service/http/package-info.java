/**
 * What the web server does beyond Tomcat's settings: a deadline for a request's header,
 * limits on connections and requests that leave room for probes, and whether a request's
 * client is still connected. Imports no other package of Tutti.
 */
@NullMarked
package io.tutti.service.http;

import org.jspecify.annotations.NullMarked;
