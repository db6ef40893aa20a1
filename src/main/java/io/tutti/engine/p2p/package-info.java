/**
 * Point-to-point messages over any byte streams: matching by source and tag, the eager
 * and the rendezvous protocol (RTS/CTS), a pool of buffers for unexpected messages, and
 * progress. Knows no transport by name.
 */
@NullMarked
package io.tutti.engine.p2p;

import org.jspecify.annotations.NullMarked;
