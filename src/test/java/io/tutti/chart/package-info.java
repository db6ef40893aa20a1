/**
 * The Helm chart and the image, without a cluster and without a Docker engine: the chart
 * is rendered by Helm itself, checked against Kubernetes' own types, and compared with
 * what the application reads.
 */
@NullMarked
package io.tutti.chart;

import org.jspecify.annotations.NullMarked;
