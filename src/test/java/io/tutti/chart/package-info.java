/**
 * Tests of the Helm chart and the image without a cluster or a Docker engine: Helm
 * renders the chart, and the tests check the result against Kubernetes' types and the
 * settings that the application reads.
 */
@NullMarked
package io.tutti.chart;

import org.jspecify.annotations.NullMarked;
