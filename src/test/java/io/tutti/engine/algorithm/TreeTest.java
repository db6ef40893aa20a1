package io.tutti.engine.algorithm;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(10)
class TreeTest {

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 3, 4, 5, 6, 7, 8, 13, 64, 100, 1023 })
	void childrenPartitionTheSubtreeInOrder(int worldSize) {
		for (Tree tree : Tree.values()) {
			assertThat(inOrder(tree, 0, worldSize)).as("%s", tree).isEqualTo(worldSize);
		}
	}

	/** First number after the subtree of a number, found from its children. */
	private static int inOrder(Tree tree, int number, int end) {
		int next = number + 1;
		for (int i = 0; i < tree.children(number, end); i++) {
			assertThat(tree.child(number, i, end)).as("child %s of %s in %s", i, number, tree).isEqualTo(next);
			next = inOrder(tree, next, tree.endOfChild(number, i, end));
		}
		return next;
	}

	@ParameterizedTest
	@ValueSource(ints = { 2, 3, 7, 8, 64, 1000 })
	void binomialAndBinaryTreesHaveLogarithmicDepth(int worldSize) {
		int logarithm = Integer.SIZE - Integer.numberOfLeadingZeros(worldSize - 1);
		assertThat(depth(Tree.BINOMIAL, 0, worldSize)).isLessThanOrEqualTo(logarithm);
		assertThat(depth(Tree.BINARY, 0, worldSize)).isLessThanOrEqualTo(logarithm);
		assertThat(depth(Tree.CHAIN, 0, worldSize)).isEqualTo(worldSize - 1);
		assertThat(depth(Tree.STAR, 0, worldSize)).isEqualTo(1);
	}

	private static int depth(Tree tree, int number, int end) {
		int deepest = 0;
		for (int i = 0; i < tree.children(number, end); i++) {
			int below = depth(tree, tree.child(number, i, end), tree.endOfChild(number, i, end));
			deepest = Math.max(deepest, 1 + below);
		}
		return deepest;
	}

}
