package io.tutti.engine.dispatch;

import java.nio.ByteBuffer;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.CRC32;

import io.tutti.Failure;
import io.tutti.engine.spi.Agreement;
import io.tutti.engine.spi.ArgumentMismatchException;
import io.tutti.engine.spi.CallOrigin;
import io.tutti.engine.spi.CleanUp;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.GroupStateException;
import io.tutti.engine.spi.RefusedCall;
import org.jspecify.annotations.Nullable;

/**
 * Forms subgroups in agreement with the other ranks of a group. Every rank announces its
 * colour and key, computes the same membership, and reports whether it has formed its
 * subgroup, so that either all members have the subgroup or none has it.
 */
final class GroupSplit {

	/**
	 * Words per rank: colour, key, and a digest of the arguments that must be the same.
	 */
	private static final int WORDS = 3;

	/** Colour of a rank that joins no subgroup. */
	private static final int NONE = -1;

	/** The rank has formed its subgroup, or joins none. */
	private static final int FORMED = 1;

	/** The rank could not form its subgroup. */
	private static final int REFUSED = 0;

	/** Limit of the name in a data connection's handshake. */
	private static final int MAX_NAME_CHARACTERS = 400;

	private final GroupIdentity identity;

	private final GroupFactory factory;

	private int splits;

	GroupSplit(GroupIdentity identity, GroupFactory factory) {
		this.identity = identity;
		this.factory = factory;
	}

	@Nullable DefaultProcessGroup byColor(DefaultProcessGroup parent, int color, int key) {
		return agree(parent, Math.max(color, NONE), key, 0, "a split");
	}

	@Nullable DefaultProcessGroup of(DefaultProcessGroup parent, List<Integer> ranks) {
		requireRanks(ranks);
		int place = ranks.indexOf(this.identity.rank());
		return agree(parent, (place < 0) ? NONE : 0, place, digest(ranks), "ranks " + ranks);
	}

	/**
	 * Different for any two likely lists, which a hash code is not. Never 0, the digest
	 * of a split.
	 */
	private static int digest(List<Integer> ranks) {
		ByteBuffer bytes = ByteBuffer.allocate(ranks.size() * Integer.BYTES);
		ranks.forEach(bytes::putInt);
		CRC32 checksum = new CRC32();
		checksum.update(bytes.flip());
		int digest = (int) checksum.getValue();
		return (digest != 0) ? digest : 1;
	}

	private void requireRanks(List<Integer> ranks) {
		try {
			Objects.requireNonNull(ranks, "ranks must not be null");
			ranks.forEach((rank) -> Objects.requireNonNull(rank, "a rank must not be null"));
			if (ranks.isEmpty() || new HashSet<>(ranks).size() < ranks.size()) {
				throw new IllegalArgumentException("ranks must be at least one, each once, got " + ranks);
			}
			int worldSize = this.identity.worldSize();
			if (ranks.stream().anyMatch((rank) -> rank < 0 || rank >= worldSize)) {
				throw new IllegalArgumentException("ranks must be in 0.." + (worldSize - 1) + ", got " + ranks);
			}
		}
		catch (IllegalArgumentException | NullPointerException ex) {
			throw RefusedCall.at(this.identity, "subgroup", ex);
		}
	}

	private synchronized @Nullable DefaultProcessGroup agree(DefaultProcessGroup parent, int color, int key, int digest,
			String asked) {
		String split = this.identity.name() + "/" + this.splits + ".";
		requireShort(split + Integer.MAX_VALUE);
		String name = split + color;
		DefaultProcessGroup.Gathered gathered = parent.agree((digest == 0) ? Agreement.SPLIT : Agreement.SUBGROUP,
				color, key, digest);
		this.splits++;
		long[] all = gathered.all();
		ArgumentMismatchException.requireSame(this.identity, gathered.sequence(), (rank) -> all[WORDS * rank + 2],
				"every rank must ask for the same subgroup",
				"their lists of ranks differ; this rank asked for " + asked);
		List<Integer> members = (color == NONE) ? List.of() : members(all, color);
		DefaultProcessGroup group = members.isEmpty() ? null : form(parent, name, members);
		return CleanUp.orElse(() -> {
			confirm(parent, name, members);
			return group;
		}, () -> Stream.ofNullable(group).forEach(DefaultProcessGroup::close));
	}

	/** The longest name decides, so that all ranks refuse the same split. */
	private void requireShort(String longest) {
		if (longest.length() > MAX_NAME_CHARACTERS) {
			throw new GroupStateException(CallOrigin.in(this.identity), "groups are nested too deep: the name "
					+ longest + " is longer than " + MAX_NAME_CHARACTERS + " characters", null);
		}
	}

	private DefaultProcessGroup form(DefaultProcessGroup parent, String name, List<Integer> members) {
		int place = members.indexOf(this.identity.rank());
		List<Integer> worldRanks = members.stream().map(this.identity.members()::get).toList();
		// On a failure, the ranks that have formed the subgroup close it.
		return CleanUp.orElse(() -> this.factory.group(this.identity.other(name, place, worldRanks)),
				() -> parent.agree(Agreement.FORM, REFUSED));
	}

	private void confirm(DefaultProcessGroup parent, String name, List<Integer> members) {
		long[] answers = parent.agree(Agreement.FORM, FORMED).all();
		for (int rank : members) {
			if (answers[rank] == REFUSED) {
				throw this.identity
					.exception(Failure.outside(Failure.Kind.ABORTED, name, List.of(this.identity.members().get(rank)),
							"it could not form the group: see its log for the reason"), null);
			}
		}
	}

	private static List<Integer> members(long[] all, int color) {
		return IntStream.range(0, all.length / WORDS)
			.filter((rank) -> all[WORDS * rank] == color)
			.boxed()
			.sorted(Comparator.comparingLong((rank) -> all[WORDS * rank + 1]))
			.toList();
	}

}
