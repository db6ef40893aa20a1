package io.tutti.training;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.tutti.GroupAbortedException;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.backend.SimulatedWorld;
import io.tutti.training.internal.TensorMemory;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.pytorch.InferenceMode;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

/**
 * All-reduce, broadcast and all-gather of tensors of every layout.
 */
@Timeout(120)
@SharesLibtorch
class TensorCollectivesTest {

	private static final Duration LIMIT = Duration.ofSeconds(60);

	private static final int RANKS = 3;

	/** How 3 × 4 × 5 × 2 elements lie in memory. */
	enum Layout {

		ROW_MAJOR(() -> torch.arange(new Scalar(120)).to(torch.ScalarType.Float).view(3, 4, 5, 2)),
		CHANNELS_LAST(
				() -> torch.arange(new Scalar(120)).to(torch.ScalarType.Float).view(3, 5, 2, 4).permute(0, 3, 1, 2)),
		TRANSPOSED(() -> torch.arange(new Scalar(120)).to(torch.ScalarType.Double).view(4, 3, 5, 2).transpose(0, 1)),
		SLICE(() -> torch.arange(new Scalar(240)).to(torch.ScalarType.Int).view(3, 4, 5, 4).narrow(3, 1, 2));

		private final Supplier<Tensor> values;

		Layout(Supplier<Tensor> values) {
			this.values = values;
		}

		/** Values that differ by rank and by index. */
		Tensor of(int rank) {
			Tensor values = this.values.get();
			values.add_(new Scalar(1000 * rank));
			return values;
		}

	}

	private interface OnRank {

		void run(TensorCollectives collectives, int rank);

	}

	private static void onRanks(OnRank call) throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(RANKS, Timeouts.DEFAULTS)) {
			RankThreads.run(RANKS, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				call.run(new TensorCollectives(group), rank);
				group.barrier();
				return null;
			});
		}
	}

	private static void requireSameLayout(Tensor result, Tensor expected) {
		assertThat(result.sizes().vec().get()).isEqualTo(expected.sizes().vec().get());
		assertThat(result.scalar_type().intern()).isEqualTo(expected.scalar_type().intern());
	}

	private static Tensor sum(Layout layout) {
		return Stream.of(0, 1, 2).map(layout::of).reduce(Tensor::add).orElseThrow();
	}

	@ParameterizedTest
	@EnumSource
	void everyRankHoldsTheSumInANewTensorOfTheSameLayout(Layout layout) throws Exception {
		onRanks((collectives, rank) -> {
			Tensor own = layout.of(rank);
			Tensor sum = collectives.allReduce(own, ReduceOp.SUM);
			requireSameLayout(sum, own);
			if (layout != Layout.SLICE) {
				assertThat(sum.strides().vec().get()).isEqualTo(own.strides().vec().get());
			}
			assertThat(sum.equal(sum(layout))).isTrue();
			assertThat(own.equal(layout.of(rank))).as("the operand").isTrue();
		});
	}

	@ParameterizedTest
	@EnumSource
	void aTensorIsReplacedByTheSumInPlace(Layout layout) throws Exception {
		onRanks((collectives, rank) -> {
			Tensor own = layout.of(rank);
			long[] strides = own.strides().vec().get();
			long address = TensorMemory.address(own);
			collectives.allReduceInPlace(own, ReduceOp.SUM);
			assertThat(own.strides().vec().get()).isEqualTo(strides);
			assertThat(TensorMemory.address(own)).isEqualTo(address);
			assertThat(own.equal(sum(layout))).isTrue();
		});
	}

	@ParameterizedTest
	@EnumSource
	void everyRankHoldsTheRootsValues(Layout layout) throws Exception {
		onRanks((collectives, rank) -> {
			Tensor own = layout.of(rank);
			assertThat(collectives.broadcast(own, 1).equal(layout.of(1))).isTrue();
			assertThat(own.equal(layout.of(rank))).as("the argument").isTrue();
			collectives.broadcastInPlace(own, 2);
			assertThat(own.equal(layout.of(2))).isTrue();
		});
	}

	@ParameterizedTest
	@EnumSource
	void everyRankHoldsAllParts(Layout layout) throws Exception {
		onRanks((collectives, rank) -> {
			Tensor all = collectives.allGather(layout.of(rank));
			assertThat(all.sizes().vec().get()).containsExactly(3, 3, 4, 5, 2);
			for (int part = 0; part < RANKS; part++) {
				assertThat(all.select(0, part).equal(layout.of(part))).isTrue();
			}
			Tensor inPlace = layout.of(rank);
			collectives.allGatherInPlace(inPlace);
			for (int part = 0; part < RANKS; part++) {
				assertThat(inPlace.select(0, part).equal(layout.of(part).select(0, part))).isTrue();
			}
		});
	}

	@Test
	void ranksMayDifferInTheirStrides() throws Exception {
		onRanks((collectives, rank) -> {
			Tensor values = Layout.ROW_MAJOR.of(rank);
			Tensor own = (rank == 1) ? values.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2) : values;
			assertThat(collectives.allReduce(own, ReduceOp.SUM).equal(sum(Layout.ROW_MAJOR))).isTrue();
			assertThat(collectives.broadcast(own, 1).equal(Layout.ROW_MAJOR.of(1))).isTrue();
		});
	}

	@Test
	void emptyScalarAndParameterTensorsWork() throws Exception {
		onRanks((collectives, rank) -> {
			assertThat(collectives.allReduce(torch.empty(0, 4), ReduceOp.SUM).numel()).isZero();
			Tensor scalar = torch.tensor((double) rank).squeeze();
			assertThat(collectives.allReduce(scalar, ReduceOp.AVERAGE).item_double()).isEqualTo(1);
			assertThat(collectives.allGather(scalar).sizes().vec().get()).containsExactly(3);
			Tensor parameter = torch.ones(2).mul(new Scalar(rank));
			parameter.requires_grad_(true);
			collectives.broadcastInPlace(parameter, 2);
			assertThat(parameter.requires_grad()).isTrue();
			assertThat(parameter.equal(torch.ones(2).mul(new Scalar(2)))).isTrue();
			assertThat(collectives.allReduce(parameter, ReduceOp.SUM).requires_grad()).isFalse();
			Tensor flags = torch.ones(5).gt(new Scalar(rank));
			assertThat(collectives.broadcast(flags, 1).any().item_bool()).isFalse();
			assertThat(collectives.broadcast(flags, 0).all().item_bool()).isTrue();
		});
	}

	/** Otherwise its gradients would be those of other values, without an error. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aBackwardPassThatNeedsTheValuesBeforeACollectiveFails(boolean transposed) throws Exception {
		onRanks((collectives, rank) -> {
			for (Consumer<Tensor> call : List.<Consumer<Tensor>>of(
					(tensor) -> collectives.allReduceInPlace(tensor, ReduceOp.SUM),
					(tensor) -> collectives.broadcastInPlace(tensor, 0), collectives::allGatherInPlace)) {
				Tensor input = torch.ones(3, 6).mul(new Scalar(0.1 * rank)).set_requires_grad(true);
				Tensor result = torch.sigmoid(transposed ? input.t().contiguous().t() : input);
				assertThat(result.is_contiguous()).isEqualTo(!transposed);
				call.accept(result);
				assertThatExceptionOfType(RuntimeException.class).isThrownBy(() -> result.sum().backward())
					.withMessageContaining("modified by an inplace operation");
			}
		});
	}

	@Test
	void tensorsOfAnInferenceAreReduced() throws Exception {
		onRanks((collectives, _) -> {
			Tensor values;
			try (InferenceMode _ = new InferenceMode(true)) {
				values = torch.ones(2).add(new Scalar(1.0));
				assertThat(values.is_inference()).isTrue();
			}
			collectives.allReduceInPlace(values, ReduceOp.SUM);
			assertThat(values.sum().item_double()).isEqualTo(4 * RANKS);
		});
	}

	/** libtorch conjugates and negates only when values are read. */
	@Test
	void conjugatesAndNegativesAreSentAsTheirValues() throws Exception {
		onRanks((collectives, rank) -> {
			Tensor complex = torch.view_as_complex(torch.ones(2, 2).mul(new Scalar(rank)));
			Tensor conjugate = complex.conj();
			collectives.broadcastInPlace(conjugate, 1);
			assertThat(torch.view_as_real(conjugate.resolve_conj())
				.equal(torch.tensor(1, -1, 1, -1).to(torch.ScalarType.Float).view(2, 2))).isTrue();
			Tensor negative = torch.imag(torch.view_as_complex(torch.ones(2, 2)).conj());
			assertThat(negative.is_neg()).isTrue();
			Tensor expected = torch.full(new long[] { 2 }, new Scalar(-3.0));
			assertThat(collectives.allReduce(negative, ReduceOp.SUM).equal(expected)).isTrue();
			collectives.allReduceInPlace(negative, ReduceOp.SUM);
			assertThat(negative.equal(expected)).isTrue();
			Tensor complexNumbers = torch.view_as_complex(torch.ones(2, 2));
			Tensor onOneRank = (rank == 0) ? complexNumbers.conj() : complexNumbers;
			collectives.broadcastInPlace(onOneRank, 0);
			assertThat(torch.imag(onOneRank).equal(torch.full(new long[] { 2 }, new Scalar(-1.0)))).isTrue();
			Tensor different = torch
				.imag(torch.view_as_complex(torch.full(new long[] { 2, 2 }, new Scalar(1.0 + rank))).conj());
			collectives.allReduceInPlace(different, ReduceOp.MAX);
			assertThat(different.equal(torch.full(new long[] { 2 }, new Scalar(-1.0)))).isTrue();
		});
	}

	private static List<Consumer<Tensor>> calls(TensorCollectives collectives) {
		return List.of((tensor) -> collectives.allReduce(tensor, ReduceOp.SUM),
				(tensor) -> collectives.allReduceInPlace(tensor, ReduceOp.SUM),
				(tensor) -> collectives.broadcast(tensor, 0), (tensor) -> collectives.broadcastInPlace(tensor, 0),
				collectives::allGather, collectives::allGatherInPlace);
	}

	@Test
	void unusableTensorsAreRefusedBeforeAnythingIsSent() throws Exception {
		onRanks((collectives, rank) -> {
			assertThatIllegalArgumentException()
				.isThrownBy(() -> collectives.allReduce(torch.ones(2).gt(new Scalar(0)), ReduceOp.SUM))
				.withMessageContaining("rank " + rank)
				.withMessageContaining("Bool");
			assertThatIllegalArgumentException()
				.isThrownBy(() -> collectives.allReduceInPlace(torch.ones(1).expand(4), ReduceOp.SUM))
				.withMessageContaining("share memory");
			for (Consumer<Tensor> call : calls(collectives)) {
				assertThatIllegalArgumentException().isThrownBy(() -> call.accept(torch.eye(6).to_sparse()))
					.withMessage(
							"rank " + rank + ": tensors must be dense, got one of layout Sparse: pass its to_dense()");
				assertThatNullPointerException().isThrownBy(() -> call.accept(null))
					.withMessage("rank " + rank + ": tensor must not be null");
			}
			assertThatIllegalArgumentException().isThrownBy(() -> collectives.allGatherInPlace(torch.ones(4)))
				.withMessageContaining("multiple of 3");
			assertThatIllegalArgumentException().isThrownBy(() -> collectives.broadcast(torch.ones(4), 3))
				.withMessageContaining("0..2");
			Tensor sum = collectives.allReduce(torch.ones(4), ReduceOp.SUM);
			assertThat(sum.sum().item_double()).isEqualTo(12);
		});
	}

	@Test
	void aFailedCallLeavesNoTensor() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(1, Timeouts.DEFAULTS); Tensor own = torch.ones(4)) {
			TensorCollectives collectives = new TensorCollectives(world.group(0));
			world.group(0).abort("a test");
			for (Consumer<Tensor> call : List.<Consumer<Tensor>>of(
					(tensor) -> collectives.allReduce(tensor, ReduceOp.SUM),
					(tensor) -> collectives.broadcast(tensor, 0), collectives::allGather)) {
				long before = Pointer.totalCount();
				assertThatExceptionOfType(GroupAbortedException.class).isThrownBy(() -> call.accept(own));
				assertThat(Pointer.totalCount()).isLessThanOrEqualTo(before);
			}
		}
	}

}
