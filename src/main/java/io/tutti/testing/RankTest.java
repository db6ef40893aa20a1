package io.tutti.testing;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A test of collective code: its method runs once per rank, at the same time, each on a
 * thread of its own with its rank's {@link io.tutti.engine.ProcessGroup} as a parameter.
 * Other parameters, and what runs before and after the method, are those of one test: the
 * ranks share them, and the test's instance.
 * <p>
 * The test fails if one rank does, and says which; the others' calls then fail instead of
 * waiting for it. It fails as well when the time limit passes, naming the ranks that were
 * not done.
 */
@Test
@Documented
@ExtendWith(RankTestExtension.class)
@Retention(RetentionPolicy.RUNTIME)
@Target({ ElementType.METHOD, ElementType.ANNOTATION_TYPE })
public @interface RankTest {

	/** How many ranks there are, 1 or more. */
	int worldSize() default 2;

	/** What carries their data. */
	RankTransport transport() default RankTransport.SIMULATED;

	/** Limit for the whole test, forming included, in seconds. */
	int timeoutSeconds() default 30;

}
