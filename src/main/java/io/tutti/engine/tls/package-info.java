/**
 * What the rendezvous port and the data port share: accepting connections under limits,
 * and mutual TLS 1.3. Uses the JDK's {@code SSLContext}, wherever it comes from, and
 * knows nothing of ranks. Imports no other Tutti package.
 */
@NullMarked
package io.tutti.engine.tls;

import org.jspecify.annotations.NullMarked;
