package io.tutti.chart;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Contradictory values are rejected before anything reaches a cluster, and similar valid
 * ones are accepted.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class RefusedValuesTest {

	@TempDir
	private static Path folder;

	private static Chart chart;

	@BeforeAll
	static void copyTheChart() {
		chart = Chart.in(folder);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					{worldSize: 0}                                                                      | worldSize
					{worldSize: "4"}                                                                    | worldSize
					{worldsize: 4}                                                                      | worldsize
					{workload: {kind: Deployment}}                                                      | kind
					{workload: {kind: Job, command: serve}}                                             | command
					{workload: {kind: StatefulSet, command: train}}                                     | command
					{workload: {kind: StatefulSet}, job: {maxRestarts: 1}}                              | maxRestarts
					{workload: {kind: StatefulSet}, job: {suspend: false}}                              | suspend
					{workload: {kind: StatefulSet}, checkpoint: {existingClaim: runs}}                  | existingClaim
					{workload: {kind: JobSet}, statefulSet: {lingerSeconds: 5}}                         | lingerSeconds
					{workload: {kind: JobSet}, statefulSet: {podDisruptionBudget: {enabled: true}}}     | enabled
					{workload: {kind: Job}, statefulSet: {volumeClaimTemplates: [{}]}}                  | volumeClaimTemplates
					{workload: {kind: Job, command: bench}, checkpoint: {existingClaim: runs}}          | needs the command train
					{token: {value: a, existingSecret: b}}                                              | not
					{image: {tag: a, digest: "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}} | not
					{image: {digest: latest}}                                                           | digest
					{gang: {scheduler: kueue}}                                                          | queue
					{gang: {queue: research}}                                                           | queue
					{gang: {scheduler: volcano}, schedulerName: mine}                                   | schedulerName
					{podMonitor: {enabled: true}}                                                       | httpFrom
					{job: {onDrain: later}}                                                             | onDrain
					{ports: {http: 80}}                                                                 | http
					{ports: {http: 29500}}                                                              | must differ
					{timeouts: {abortSeconds: 31}}                                                      | must not exceed
					{timeouts: {drainSeconds: 30s}}                                                     | drainSeconds
					{shm: {size: 1 gigabyte}}                                                           | size
					{backend: mpi, gpu: {count: 1}}                                                     | backend
					{gpu: {count: 2}}                                                                   | count
					{worldSize: 3, ranksPerPod: 2}                                                      | must be a multiple
					{worldSize: 4, ranksPerPod: 2, ports: {data: 29499}}                                | must differ
					{worldSize: 4, ranksPerPod: 2, ports: {data: 65535}}                                | up to 65535
					{workload: {kind: Job, classPath: [/a.jar]}}                                        | needs workload.task
					{workload: {kind: Job, task: a b}}                                                  | task
					{workload: {kind: Job, task: a.B, classPath: [a.jar]}}                              | classPath
					{workload: {kind: Job, command: bench, task: a.B}}                                  | need the command train
					{workload: {kind: Job, program: [a], command: train}}                               | command
					{workload: {kind: Job, program: [a], task: a.B}}                                    | task
					{workload: {kind: Job, program: [a]}, checkpoint: {existingClaim: runs}}            | existingClaim
					{javaOptions: -Xmx1g, workload: {kind: Job, program: [java, A]}}                    | JVM flags of a program
					{workload: {kind: StatefulSet}, job: {podDisruptionBudget: {enabled: true}}}        | enabled
					{backend: nccl}                                                                     | needs a GPU
					{tls: {enabled: true}}                                                              | secretName
					{tls: {enabled: true, certManager: {enabled: true}}}                                | issuerName
					{tls: {certManager: {enabled: true, issuerName: ranks}}}                            | enabled
					{tls: {secretName: mine}}                                                           | secretName
					{tls: {enabled: true, secretName: mine, peerName: "a b"}}                           | peerName
					{tls: {enabled: true, secretName: mine, certManager: {duration: 90d}}}              | duration
					{tls: {enabled: true, secretName: mine, certManager: {renewBefore: 2160h}}}         | must be less than
					{tls: {http: true}}                                                                 | http
					{networkPolicy: {enabled: false, httpFrom: [{podSelector: {}}]}}                    | httpFrom
					{networkPolicy: {enabled: false, egress: [{}]}}                                     | egress
					{checkpoint: {existingClaim: runs, mountPath: /tmp/}}                               | mountPath
					{checkpoint: {existingClaim: runs, mountPath: /app/config}}                         | mountPath
					{gpu: {count: 1}, resources: {limits: {nvidia.com/gpu: 2}}}                         | set gpu.count only
					{token: {value: " "}}                                                               | value
					{token: {value: sésame}}                                                            | value
					{podLabels: {app.kubernetes.io/component: mine}}                                    | podLabels
					{dashboard: {labels: {app.kubernetes.io/instance: mine}}}                           | labels
					{extraEnv: [{name: TUTTI_HTTP_PORT, value: "1"}]}                                   | TUTTI_HTTP_PORT
					{extraEnv: [{name: SERVER_PORT, value: "1"}]}                                       | SERVER_PORT
					{workload: {kind: Job, args: ["--http-port=1"]}}                                    | --http-port=1
					{workload: {kind: Job, args: ["--tutti.transport.port=1"]}}                         | --tutti.transport.port=1
					{config: {server: {port: 1}}}                                                       | probes depend on ports.http
					{config: {management.server.port: 1}}                                               | probes depend on ports.http
					{config: {server: {ssl: {bundle: ranks}}}}                                          | probes depend on tls.http
					{config: {management: {endpoints: {web: {base-path: /}}}}}                          | probes and test depend on its default
					{config: {tutti.http.base-path: /api}}                                              | probes and test depend on its default
					{extraEnv: [{name: MANAGEMENT_ENDPOINTS_WEB_BASEPATH, value: /}]}                   | MANAGEMENT_ENDPOINTS_WEB_BASEPATH
					{extraEnv: [{name: TUTTI_HTTP_BASE_PATH, value: /api}]}                             | TUTTI_HTTP_BASE_PATH
					{extraEnv: [{name: RANK, value: "0"}]}                                              | RANK, but the chart numbers
					{extraEnv: [{name: WORLD_SIZE, value: "2"}]}                                        | WORLD_SIZE, but the chart numbers
					{workload: {kind: Job, args: ["--tutti.http.base-path=/api"]}}                      | --tutti.http.base-path=/api
					{workload: {kind: Job, args: ["--management.endpoints.web.base-path=/"]}}           | --management.endpoints.web.base-path=/
					{worldSize: 4, elastic: {minRanks: 5}}                                              | elastic.minRanks (5) must not exceed worldSize (4)
					{worldSize: 6000, elastic: {minRanks: 5}}                                           | environment variable
					{elastic: {minRanks: 0}}                                                            | minRanks
					{elastic: {quorum: strict}}                                                         | elastic.quorum needs elastic.minRanks
					{elastic: {onStop: leave}}                                                          | elastic.onStop needs elastic.minRanks
					{elastic: {minRanks: 1, onStop: leave}, workload: {kind: StatefulSet}}              | elastic.onStop needs workload.kind Job
					{elastic: {minRanks: 1, onStop: leave}, workload: {kind: Job, program: [a]}}        | needs a command of Tutti
					{elastic: {minRanks: 1, quorum: most}}                                              | quorum
					{elastic: {minRanks: 1}, backend: nccl, gpu: {count: 1}}                            | nccl cannot continue without a lost rank
					{elastic: {minRanks: 1}, gpu: {count: 1}}                                           | trains on the CPU
					{elastic: {minRanks: 1}, workload: {kind: Job, command: bench}}                     | bench cannot continue without a lost rank
					{ports: {formation: 29501}}                                                         | must differ
					{worldSize: 4, ranksPerPod: 2, ports: {formation: 65535}}                           | up to 65535
					{extraEnv: [{name: TUTTI_ELASTIC_MINRANKS, value: "1"}]}                            | depend on elastic.minRanks
					{workload: {kind: Job, args: ["--tutti.elastic.min-ranks=1"]}}                      | depend on elastic.minRanks
					{extraEnv: [{name: TUTTI_MASTER_PORT, value: "1"}]}                                 | TUTTI_MASTER_PORT, but peers depend on ports.rendezvous
					{extraEnv: [{name: TUTTI_MASTERADDRESS, value: a}]}                                 | TUTTI_MASTERADDRESS, but peers depend on the first pod
					{extraEnv: [{name: TUTTI_RANK, value: "0"}]}                                        | TUTTI_RANK, but the chart numbers
					{extraEnv: [{name: TUTTI_WORLDSIZE, value: "2"}]}                                   | TUTTI_WORLDSIZE, but the chart numbers
					{workload: {kind: Job, args: ["--tutti.master-port=1"]}}                            | --tutti.master-port=1
					{workload: {kind: Job, args: ["--tutti.master-address", a]}}                        | --tutti.master-address
					{workload: {kind: Job, args: ["--tutti.rank=0"]}}                                   | --tutti.rank=0
					{workload: {kind: Job, args: ["--tutti.world-size=3"]}}                             | --tutti.world-size=3
					{workload: {kind: Job, args: ["--tutti.worldSize=3"]}}                              | --tutti.worldSize=3
					{config: {tutti: {master-port: 1}}}                                                 | tutti.master-port, but peers depend on ports.rendezvous
					{config: {tutti: {masterPort: 1}}}                                                  | tutti.masterPort, but peers depend on ports.rendezvous
					{config: {tutti.master-address: a}}                                                 | tutti.master-address, but peers depend on the first pod
					{config: {tutti: {rank: 0}}}                                                        | tutti.rank, but the chart numbers
					{config: {tutti: {world-size: 3}}}                                                  | tutti.world-size, but the chart numbers
					{config: {tutti: {backend: nccl}}}                                                  | tutti.backend, but the NetworkPolicy depends on backend
					{config: {spring: {profiles: {active: [a, nccl]}}}}                                 | depends on backend
					{config: {spring.profiles.include: nccl}}                                           | depends on backend
					{extraEnv: [{name: TUTTI_BACKEND, value: nccl}]}                                    | TUTTI_BACKEND, but the NetworkPolicy depends on backend
					{extraEnv: [{name: SPRING_PROFILES_ACTIVE, value: "a, nccl"}]}                      | SPRING_PROFILES_ACTIVE to a backend, but
					{workload: {kind: Job, args: ["--tutti.backend=nccl"]}}                             | depends on backend
					{workload: {kind: Job, args: ["--spring.profiles.active=nccl"]}}                    | depends on backend
					{workload: {kind: Job, program: [a], args: ["--tutti.backend=nccl"]}}               | depends on backend
					{backend: mpi, extraEnv: [{name: SPRING_PROFILES_ACTIVE, value: a}]}                | SPRING_PROFILES_ACTIVE, which the chart sets
					{config: {server.servlet: {context-path: /x}}}                                      | server.servlet.context-path, but probes
					{config: {server: {servlet: {contextPath: /x}}}}                                    | server.servlet.contextPath, but probes
					{config: {spring: {mvc: {servlet.path: /x}}}}                                       | spring.mvc.servlet.path, but probes
					{config: {management: {endpoints.web: {path-mapping: {health: up}}}}}               | path-mapping.health, but probes
					{config: {tutti: {http.base-path: /x}}}                                             | tutti.http.base-path, but probes
					{config: {management.server: {port: 1}}}                                            | management.server.port, but probes
					{config: {tutti: {elastic: {min-ranks: 1}}}}                                        | depend on elastic.minRanks
					{extraEnv: [{name: SERVER_SERVLET_CONTEXT_PATH, value: /x}]}                        | SERVER_SERVLET_CONTEXT_PATH, but probes
					{extraEnv: [{name: MANAGEMENT_ENDPOINTS_WEB_PATHMAPPING_HEALTH, value: up}]}        | PATHMAPPING_HEALTH, but probes
					{workload: {kind: Job, args: ["--spring.mvc.servlet.path=/x"]}}                     | --spring.mvc.servlet.path=/x, but probes
					{extraEnv: [{name: TUTTI_HTTP_ALLOWED_HOSTS, value: a}]}                            | TUTTI_HTTP_ALLOWED_HOSTS, which the chart sets
					{extraEnv: [{name: TUTTI_WORLD_SIZE, value: "2"}]}                                  | TUTTI_WORLD_SIZE, but the chart numbers
					{extraEnv: [{name: SERVER_SSL_BUNDLE, value: a}]}                                   | SERVER_SSL_BUNDLE, but probes depend on tls.http
					{workload: {kind: Job, program: [a], args: ["--tutti.transport.port=1"]}}           | --tutti.transport.port=1, but peers
					{config: {management: {endpoints.web: {path-mapping.prometheus: up}}}}              | path-mapping.prometheus, but a PodMonitor
					{config: {management.endpoints.web.path-mapping: {"[health]": up}}}                 | path-mapping.[health], but probes
					{workload: {kind: Job, args: ["--management.endpoints.web.path-mapping[health]=x"]}}| path-mapping[health]=x, but probes
					{workload: {kind: Job, args: ["--tutti.world_size=3"]}}                             | --tutti.world_size=3
					{workload: {kind: Job, args: ["--spring.profiles.active[0]=nccl"]}}                 | depends on backend
					{extraEnv: [{name: SPRING_PROFILES_ACTIVE_0, value: nccl}]}                         | SPRING_PROFILES_ACTIVE_0 to a backend
					{config: {spring.profiles: {"active[1]": nccl}}}                                    | depends on backend
					{config: {spring: {profiles: {group: {mine: [a, nccl]}}}}}                          | spring.profiles.group.mine to a backend
					{extraEnv: [{name: SPRING_PROFILES_GROUP_MINE_0, value: mpi}]}                      | SPRING_PROFILES_GROUP_MINE_0 to a backend
					{elastic: {minRanks: 1}, timeouts: {rendezvousSeconds: 30}}                         | must be more than timeouts.heartbeatSeconds (30)
					{workload: {kind: Job, args: ["--tutti.timeout.drain=10m"]}}                        | values under timeouts
					{workload: {kind: Job, args: ["--tutti.timeout.collective", 1h]}}                   | values under timeouts
					{workload: {kind: Job, program: [a], args: ["--tutti.timeout.rendezvous=1h"]}}      | values under timeouts
					{http: {allowedHosts: ["tutti.example.org:8443"]}}                                  | allowedHosts
					{http: {allowedHosts: ["*"]}}                                                       | allowedHosts
					{http: {allowedHosts: ["https://tutti.example.org"]}}                               | allowedHosts
					{http: {allowedHosts: ["[::1]:80"]}}                                                | allowedHosts
					{http: {allowedHosts: ["a.*.b"]}}                                                   | allowedHosts
					{http: {allowedHosts: [-a]}}                                                        | allowedHosts
					{extraEnv: [{name: TUTTI_SECURITY_TOKEN, value: a}]}                                | set token.value or token.existingSecret
					{config: {tutti.security: {token: a}}}                                              | set token.value or token.existingSecret
					{workload: {kind: Job, program: [a], args: ["--tutti.security.token=a"]}}           | set token.value or token.existingSecret
					{fullnameOverride: 9lives}                                                          | must begin with a letter
					""")
	void contradictoryValuesAreRejectedByName(String values, String named) {
		assertThatIllegalStateException().isThrownBy(() -> chart.with(values)).withMessageContaining(named);
	}

	@ParameterizedTest
	@ValueSource(strings = { "{worldSize: 1}", "{workload: {kind: StatefulSet, command: serve}}",
			"{workload: {kind: Job, command: bench}}", "{token: {existingSecret: b}}",
			"{token: {value: open ~ sesame!}}", "{job: {maxRestarts: 0}}", "{gang: {scheduler: volcano}}",
			"{podMonitor: {enabled: true}, networkPolicy: {enabled: false}}",
			"{config: {server: {tomcat: {threads: {max: 9}}}, management: {tracing: {}}}}",
			"{extraEnv: [{name: SERVER_TOMCAT_THREADS_MAX, value: '9'}]}",
			"{workload: {kind: Job, args: [--epochs, '5']}}", "{workload: {kind: Job, args: [--tutti.rank-log, a]}}",
			"{config: {tutti: {transport: {kind: tcp}}}}", "{config: {spring: {profiles: {active: mpi2}}, server: {}}}",
			"{extraEnv: [{name: SPRING_PROFILES_ACTIVE, value: mine}]}",
			"{config: {server.servlet.session.timeout: 5m}}",
			"{workload: {kind: Job, args: [--server-port, '9', --spring.profiles.active=mine]}}",
			"{extraEnv: [{name: SERVER_PORT, value: '9'}], workload: {kind: Job, program: [a], args: [--http-port=9]}}",
			"{workload: {kind: Job, program: [a], args: [--server.port=9]}, config: {server: {servlet.context-path: /a}}}",
			"{extraEnv: [{name: HTTP_PORT, value: '9'}, {name: SOLVER, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}",
			"{config: {management.endpoints.web.path-mapping: {metrics: numbers}}}",
			"{extraEnv: [{name: MANAGEMENT_ENDPOINTS_WEB_PATHMAPPING_METRICS, value: numbers}]}",
			"{config: {spring.profiles.group: {mine: [a, mpi2]}}}", "{extraEnv: [{name: TUTTI_RANKS, value: a}]}",
			"{checkpoint: {existingClaim: runs, mountPath: /data/app}}", "{podLabels: {app: mine}}",
			"{gpu: {count: 1}, resources: {limits: {memory: 2Gi}}}", "{timeouts: {abortSeconds: 30}}",
			"{shm: {size: 1Gi}}", "{backend: mpi}", "{worldSize: 4, ranksPerPod: 4}",
			"{workload: {kind: Job, task: a.B$C}}", "{workload: {kind: StatefulSet, program: [a]}}",
			"{backend: nccl, gpu: {count: 1}}", "{fullnameOverride: nine-lives}",
			"{worldSize: 4, elastic: {minRanks: 4}}", "{worldSize: 3000, elastic: {minRanks: 4}}",
			"{elastic: {minRanks: 1}, backend: mpi}", "{elastic: {minRanks: 1}, workload: {kind: Job, program: [a]}}",
			"{timeouts: {rendezvousSeconds: 30}}", "{elastic: {minRanks: 1}, timeouts: {rendezvousSeconds: 31}}",
			"{workload: {kind: Job, args: [--tutti.timeouts, a]}}",
			"{extraEnv: [{name: TUTTI_SECURITY_TOKENS, value: a}]}",
			"{tls: {enabled: true, secretName: mine, peerName: ranks.ml}}",
			"{tls: {enabled: true, secretName: mine, certManager: {enabled: true, issuerName: ranks}}}" })
	void similarValidValuesAreAccepted(String values) {
		assertThat(chart.with(values).objects()).isNotEmpty();
	}

}
