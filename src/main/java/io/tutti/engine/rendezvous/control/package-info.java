/**
 * What is decided once ranks have met, whatever carries the messages: the
 * {@link io.tutti.engine.rendezvous.control.Arbiter} at rank 0 keeps one book per concern
 * (verdicts, posts, labelled barriers), and every rank, rank 0 included, has a
 * {@link io.tutti.engine.rendezvous.control.RankControl}. Books wait for nothing: they
 * are told the time and say when they want to be told it next. Imports the wire's
 * messages, the package above and the engine's root.
 * <p>
 * A new exchange takes these steps; the compiler names each place that was forgotten,
 * since every switch over messages is complete:
 * <ol>
 * <li>a record per message in {@code ControlMessage}, a {@code Request} if a rank says it
 * to rank 0, a {@code Notice} if rank 0 says it to a rank;
 * <li>a type byte of its own, an encoding and a decoding in {@code MessageCodec}, which
 * checks every range that the receiver relies on, and an example in its test. The meaning
 * of a byte never changes; a message that an older process would not understand takes a
 * new {@code VERSION};
 * <li>a book with a clock and a listener of its own, which {@code Arbiter.receive} feeds
 * and {@code Arbiter.tick} and {@code nanosUntilDue} drive;
 * <li>the rank's side in {@code RankControl}: what sends the request, what
 * {@code receive} does with the notice, and in {@code decideAlone} what becomes of the
 * request when rank 0 has gone;
 * <li>a method of {@code ControlPlane} for callers, or of {@code ControlEvents} for what
 * this process is asked.
 * </ol>
 * Nothing is to be done for TCP or for simulated ranks: both carry any message.
 */
@NullMarked
package io.tutti.engine.rendezvous.control;

import org.jspecify.annotations.NullMarked;
