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
			assertThat(tree.end(0, worldSize)).isEqualTo(worldSize);
			for (int number = 0; number < worldSize; number++) {
				int next = number + 1;
				for (int i = 0; i < tree.children(number, worldSize); i++) {
					int child = tree.child(number, i, worldSize);
					assertThat(child).as("child %s of %s in %s", i, number, tree).isEqualTo(next);
					assertThat(tree.parent(child, worldSize)).isEqualTo(number);
					next = tree.end(child, worldSize);
				}
				assertThat(next).isEqualTo(tree.end(number, worldSize));
			}
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 2, 3, 7, 8, 64, 1000 })
	void binomialAndBinaryTreesHaveLogarithmicDepth(int worldSize) {
		int logarithm = Integer.SIZE - Integer.numberOfLeadingZeros(worldSize - 1);
		assertThat(depth(Tree.BINOMIAL, worldSize)).isLessThanOrEqualTo(logarithm);
		assertThat(depth(Tree.BINARY, worldSize)).isLessThanOrEqualTo(logarithm);
		assertThat(depth(Tree.CHAIN, worldSize)).isEqualTo(worldSize - 1);
		assertThat(depth(Tree.STAR, worldSize)).isEqualTo(1);
	}

	private static int depth(Tree tree, int worldSize) {
		int deepest = 0;
		for (int number = 0; number < worldSize; number++) {
			int depth = 0;
			for (int at = number; at != 0; at = tree.parent(at, worldSize)) {
				depth++;
			}
			deepest = Math.max(deepest, depth);
		}
		return deepest;
	}

}
