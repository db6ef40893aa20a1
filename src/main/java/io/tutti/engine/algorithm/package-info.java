/**
 * Collective algorithms on the links of a transport. Every algorithm combines operands in
 * an order that depends only on ranks, never on arrival, so results are bit-identical on
 * every rank and from run to run. Imports the engine's root package, transports and
 * kernels.
 * <p>
 * The papers that the algorithms come from:
 * <ul>
 * <li>J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby: Efficient algorithms for
 * all-to-all communications in multiport message-passing systems. IEEE Transactions on
 * Parallel and Distributed Systems 8(11), 1997</li>
 * <li>E. Chan, M. Heimlich, A. Purkayastha, R. van de Geijn: Collective communication:
 * theory, practice, and experience. Concurrency and Computation: Practice and Experience
 * 19(13), 2007</li>
 * <li>D. Hensgen, R. Finkel, U. Manber: Two algorithms for barrier synchronization.
 * International Journal of Parallel Programming 17(1), 1988</li>
 * <li>N. Karonis, B. de Supinski, I. Foster, W. Gropp, E. Lusk, J. Bresnahan: Exploiting
 * hierarchy in parallel computer networks to optimize collective operation performance.
 * International Parallel and Distributed Processing Symposium, 2000</li>
 * <li>P. Patarasuk, X. Yuan: Bandwidth optimal all-reduce algorithms for clusters of
 * workstations. Journal of Parallel and Distributed Computing 69(2), 2009</li>
 * <li>R. Rabenseifner: Optimization of collective reduction operations. International
 * Conference on Computational Science, 2004</li>
 * <li>P. Sanders, J. Speck, J. L. Träff: Two-tree algorithms for full bandwidth
 * broadcast, reduction and scan. Parallel Computing 35(12), 2009</li>
 * <li>R. Thakur, R. Rabenseifner, W. Gropp: Optimization of collective communication
 * operations in MPICH. International Journal of High Performance Computing Applications
 * 19(1), 2005</li>
 * </ul>
 */
@NullMarked
package io.tutti.engine.algorithm;

import org.jspecify.annotations.NullMarked;
