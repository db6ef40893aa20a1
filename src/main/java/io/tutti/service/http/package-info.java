/**
 * Extensions of Tomcat: a deadline for a request's header, limits on connections and
 * requests that leave room for probes, and detection of disconnected clients. Imports no
 * other package of Tutti.
 */
@NullMarked
package io.tutti.service.http;

import org.jspecify.annotations.NullMarked;
