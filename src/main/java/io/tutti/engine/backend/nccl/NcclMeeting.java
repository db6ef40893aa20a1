package io.tutti.engine.backend.nccl;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Supplier;

import io.tutti.engine.Backend;
import io.tutti.engine.BackendUnavailableException;
import io.tutti.engine.Deadline;
import io.tutti.engine.MetadataExchange;
import io.tutti.engine.FailureLatch;
import io.tutti.engine.FailureReporter;
import io.tutti.engine.GroupIdentity;
import io.tutti.engine.device.DeviceException;

/**
 * How the ranks of a group come to a communicator: each says whether it can, rank 0 adds
 * the id, and only if all can do they meet. The id travels over connections that have
 * proven the session's key.
 */
public final class NcclMeeting {

	private static final byte READY = 1;

	private static final byte UNABLE = 0;

	/** Leaves room for the status in what a rank may say. */
	private static final int MAX_REASON_BYTES = MetadataExchange.MAX_BYTES - 1;

	private final Supplier<NcclLibrary> loading;

	private final int localRank;

	/**
	 * @param localRank place of this process among those of its host, and so its device
	 */
	public NcclMeeting(int localRank) {
		this(NcclLibrary::load, localRank);
	}

	NcclMeeting(Supplier<NcclLibrary> loading, int localRank) {
		this.loading = loading;
		this.localRank = localRank;
	}

	/**
	 * A backend for a group, over one that carries its host memory. Every rank of the
	 * group calls it.
	 * @param deadline by when all must have met, and how long a later call may take that
	 * is given no limit of its own
	 * @throws BackendUnavailableException if NCCL cannot be used on any of the ranks;
	 * names the first of them
	 */
	public Backend meet(GroupIdentity identity, Backend host, FailureLatch latch, FailureReporter reporter,
			MetadataExchange exchange, Deadline deadline) {
		NcclLibrary library = null;
		int devices = 0;
		byte[] word;
		try {
			library = this.loading.get();
			devices = library.runtime().deviceCount();
			word = ready(library, identity.rank());
		}
		catch (BackendUnavailableException | DeviceException | NcclException ex) {
			word = unable(String.valueOf(ex.getMessage()));
		}
		UniqueId id = agree(identity, word, exchange, deadline);
		if (library == null) {
			throw new IllegalStateException("a rank without NCCL was taken for ready");
		}
		RankPlace place = RankPlace.ofLocalRank(identity.rank(), identity.worldSize(), this.localRank, devices);
		RankCommunicator communicator = RankCommunicator.create(library, id, place, null,
				deadline.remaining().plusNanos(1));
		return new NcclBackend(identity, host, latch, reporter, library.runtime(), communicator);
	}

	private static byte[] ready(NcclLibrary library, int rank) {
		byte[] word = new byte[1 + ((rank == 0) ? UniqueId.BYTES : 0)];
		word[0] = READY;
		if (rank == 0) {
			System.arraycopy(RankCommunicator.newId(library).asBytes(), 0, word, 1, UniqueId.BYTES);
		}
		return word;
	}

	private static byte[] unable(String reason) {
		byte[] text = reason.getBytes(StandardCharsets.UTF_8);
		byte[] word = new byte[1 + Math.min(text.length, MAX_REASON_BYTES)];
		word[0] = UNABLE;
		System.arraycopy(text, 0, word, 1, word.length - 1);
		return word;
	}

	private static UniqueId agree(GroupIdentity identity, byte[] word, MetadataExchange exchange, Deadline deadline) {
		byte[][] words;
		try {
			words = exchange.allGather(word, deadline);
		}
		catch (IOException ex) {
			throw new UncheckedIOException("the ranks could not agree on a communicator", ex);
		}
		for (int rank = 0; rank < words.length; rank++) {
			if (words[rank].length == 0 || words[rank][0] != READY) {
				throw new BackendUnavailableException(NcclBackend.NAME,
						"rank " + identity.members().get(rank) + " cannot use it: " + reason(words[rank]),
						"Give every rank a GPU and NCCL, or use the profile tcp");
			}
		}
		return UniqueId.fromBytes(Arrays.copyOfRange(words[0], 1, words[0].length));
	}

	private static String reason(byte[] word) {
		return (word.length < 2) ? "it said nothing" : new String(word, 1, word.length - 1, StandardCharsets.UTF_8);
	}

}
