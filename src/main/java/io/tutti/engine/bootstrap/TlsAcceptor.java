package io.tutti.engine.bootstrap;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;

import io.tutti.engine.control.RendezvousException.Reason;
import io.tutti.engine.control.ControlLoop;
import io.tutti.engine.control.ControlMessage.Refused;
import io.tutti.engine.control.MessageCodec;
import io.tutti.engine.tls.HandshakeDeadline;
import io.tutti.engine.tls.Tls;
import io.tutti.engine.tls.TlsChannel;
import io.tutti.engine.tls.TlsException;

/**
 * Where callers of a job that speaks TLS show who they are, before rank 0 listens to
 * them. That takes arithmetic and waiting, so each has a thread of its own and the
 * control thread none of it. They are as few and have as little time as callers who have
 * proved nothing: when there are too many, the one that came first goes first.
 */
final class TlsAcceptor {

	/** What becomes of callers, told on the control thread. */
	interface Listener {

		/** A caller has shown who it is and may already have said more. */
		void admitted(TlsChannel channel, long sinceNanos) throws IOException;

		/** A caller is not to be trusted, or does not speak TLS. */
		void turnedAway(String from, String why);

	}

	/** How long a caller that is turned away gets to read why. */
	private static final Duration READING = Duration.ofSeconds(1);

	/** What a caller that is turned away may yet say before nobody listens. */
	private static final int UNHEARD_BYTES = 64 << 10;

	private final Tls tls;

	private final ControlLoop loop;

	private final Listener listener;

	private final int mostInside;

	/** The one who came first comes first. */
	private final Set<SocketChannel> inside = new LinkedHashSet<>();

	TlsAcceptor(Tls tls, ControlLoop loop, Listener listener, int mostInside) {
		this.tls = tls;
		this.loop = loop;
		this.listener = listener;
		this.mostInside = mostInside;
	}

	/** Takes a call. */
	void enter(SocketChannel channel, long nowNanos) {
		this.inside.add(channel);
		if (this.inside.size() > this.mostInside) {
			closeOldest();
		}
		Thread.ofVirtual().start(() -> open(channel, nowNanos));
	}

	/** Gives a descriptor back. */
	void closeOldest() {
		Iterator<SocketChannel> oldestFirst = this.inside.iterator();
		if (oldestFirst.hasNext()) {
			close(oldestFirst.next());
			oldestFirst.remove();
		}
	}

	/** Hangs up on all. */
	void close() {
		this.inside.forEach(TlsAcceptor::close);
		this.inside.clear();
	}

	// The caller's thread

	private void open(SocketChannel channel, long sinceNanos) {
		HandshakeDeadline patience = until(sinceNanos + ControlAcceptor.HANDSHAKE_LIMIT.toNanos());
		try {
			TlsChannel opened = this.tls.accept(channel, patience, TlsAcceptor::refusal);
			this.loop.execute(() -> admit(opened, sinceNanos));
		}
		catch (TlsException ex) {
			String from = describe(channel);
			this.loop.execute(() -> this.listener.turnedAway(from, ex.getMessage() + advice(ex.reason())));
			seeOut(channel, ex.reason());
			this.loop.execute(() -> forget(channel));
		}
		catch (IOException ex) {
			this.loop.execute(() -> forget(channel));
		}
	}

	/** Lets the caller read why, which hanging up at once would take from it. */
	private static void seeOut(SocketChannel channel, TlsException.Reason reason) {
		try {
			if (reason == TlsException.Reason.NOT_TLS) {
				channel.write(refusal("it does not speak TLS, and rank 0 does"));
			}
			channel.shutdownOutput();
			HandshakeDeadline patience = until(System.nanoTime() + READING.toNanos());
			channel.socket().setSoTimeout((int) READING.toMillis());
			byte[] unheard = new byte[4 << 10];
			int heard = 0;
			int got = 0;
			while (got >= 0 && heard < UNHEARD_BYTES) {
				patience.check();
				got = channel.socket().getInputStream().read(unheard);
				heard += got;
			}
		}
		catch (IOException ex) {
			// It has gone, or has had its time.
		}
	}

	private static ByteBuffer refusal(String problem) {
		return MessageCodec
			.encode(new Refused(Reason.AUTHENTICATION, problem + "; give every rank the same tutti.tls.bundle and"
					+ " tutti.tls.peer-name, with a certificate that carries that name"));
	}

	private static String advice(TlsException.Reason reason) {
		return switch (reason) {
			case NOT_TLS -> ", and rank 0 does; give every rank the same tutti.tls.bundle";
			case UNTRUSTED -> "; give every rank a certificate of the authority that tutti.tls.bundle trusts";
			case REFUSED -> "; it may have no certificate of the authority that tutti.tls.bundle trusts, and its own"
					+ " log says more";
		};
	}

	private static HandshakeDeadline until(long endNanos) {
		return () -> {
			if (System.nanoTime() - endNanos >= 0) {
				throw new IOException("the caller took too long");
			}
		};
	}

	private static String describe(SocketChannel channel) {
		try {
			return String.valueOf(channel.getRemoteAddress());
		}
		catch (IOException ex) {
			return "a closed connection";
		}
	}

	// The control thread

	private void admit(TlsChannel opened, long sinceNanos) {
		if (!this.inside.remove(opened.socket())) {
			return;
		}
		try {
			this.listener.admitted(opened, sinceNanos);
		}
		catch (IOException ex) {
			close(opened.socket());
		}
	}

	private void forget(SocketChannel channel) {
		this.inside.remove(channel);
		close(channel);
	}

	private static void close(SocketChannel channel) {
		try {
			channel.close();
		}
		catch (IOException ex) {
			// The descriptor is gone either way.
		}
	}

}
