/**
 * Connections that nobody else can read, between sides that show each other who they are:
 * TLS 1.3 with certificates on both. Knows the JDK's {@code SSLContext}, wherever it
 * comes from, and nothing of ranks; imports nothing of ours.
 */
@NullMarked
package io.tutti.engine.tls;

import org.jspecify.annotations.NullMarked;
