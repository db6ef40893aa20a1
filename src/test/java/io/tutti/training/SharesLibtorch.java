package io.tutti.training;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * Marks tests that use libtorch in this JVM: its random generator, its number of threads
 * and the count of native objects belong to the process, so that such tests run one after
 * another.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ResourceLock("libtorch")
public @interface SharesLibtorch {

}
