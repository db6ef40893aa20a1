/**
 * Connections to peers, plain or over mutual TLS 1.3 by the JDK's {@code SSLContext}.
 * Knows no ranks.
 */
@NullMarked
package io.tutti.engine.tls;

import org.jspecify.annotations.NullMarked;
