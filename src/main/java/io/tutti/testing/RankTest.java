package io.tutti.testing;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A test of collective code. The method runs once per rank, concurrently, on one thread
 * per rank, with the rank's {@link io.tutti.ProcessGroup} as a parameter. The ranks share
 * the test instance and all other parameters. Methods before and after the test run once.
 * <p>
 * The test fails if one rank fails, and names that rank. Calls of the other ranks then
 * fail instead of waiting for it. The test also fails if the time limit passes, and names
 * the ranks that have not finished.
 */
@Test
@Documented
@ExtendWith(RankTestExtension.class)
@Retention(RetentionPolicy.RUNTIME)
@Target({ ElementType.METHOD, ElementType.ANNOTATION_TYPE })
public @interface RankTest {

	/**
	 * Number of ranks, at least 1.
	 * @return number of ranks, at least 1
	 */
	int worldSize() default 2;

	/**
	 * Transport between the ranks.
	 * @return transport between the ranks
	 */
	RankTransport transport() default RankTransport.SIMULATED;

	/**
	 * Time limit of the whole test in seconds, including rendezvous; at least 1.
	 * @return time limit in seconds
	 */
	int timeoutSeconds() default 30;

}
