{{- define "tutti.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* At most 40 characters: JobSet adds "-ranks-0-" and an index, and a host name has 63. */}}
{{- define "tutti.fullname" -}}
{{- $name := .Values.fullnameOverride -}}
{{- if not $name -}}
{{- $chart := include "tutti.name" . -}}
{{- $name = ternary .Release.Name (printf "%s-%s" .Release.Name $chart) (contains $chart .Release.Name) -}}
{{- end -}}
{{- $name = $name | trunc 40 | trimSuffix "-" -}}
{{- if not (regexMatch "^[a-z]([a-z0-9-]*[a-z0-9])?$" $name) -}}
{{- fail (printf "the name %q is not valid for a Service: it must begin with a letter and contain only a-z, 0-9 and -; set fullnameOverride" $name) -}}
{{- end -}}
{{- $name -}}
{{- end -}}

{{- define "tutti.selectorLabels" -}}
app.kubernetes.io/name: {{ include "tutti.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "tutti.rankLabels" -}}
{{ include "tutti.selectorLabels" . }}
app.kubernetes.io/component: rank
{{- end -}}

{{- define "tutti.labels" -}}
{{ include "tutti.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "tutti.workloadLabels" -}}
{{ include "tutti.labels" . }}
{{- if eq .Values.gang.scheduler "kueue" }}
kueue.x-k8s.io/queue-name: {{ .Values.gang.queue | quote }}
{{- end }}
{{- end -}}

{{- define "tutti.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "tutti.command" -}}
{{- .Values.workload.command | default (ternary "serve" "train" (eq .Values.workload.kind "StatefulSet")) -}}
{{- end -}}

{{- define "tutti.pods" -}}
{{- div .Values.worldSize .Values.ranksPerPod -}}
{{- end -}}

{{/* Non-empty if the group continues without lost ranks. */}}
{{- define "tutti.elastic" -}}
{{- if not (kindIs "invalid" .Values.elastic.minRanks) -}}true{{- end -}}
{{- end -}}

{{/* Fewest pods with which the group continues. */}}
{{- define "tutti.minPods" -}}
{{- if include "tutti.elastic" . -}}
{{- div (add .Values.elastic.minRanks .Values.ranksPerPod -1) .Values.ranksPerPod -}}
{{- else -}}
{{- include "tutti.pods" . -}}
{{- end -}}
{{- end -}}

{{/* Where each rank listens for formations, by rank. */}}
{{- define "tutti.formationEndpoints" -}}
{{- $endpoints := list -}}
{{- range $rank := until (int .Values.worldSize) -}}
{{- $endpoints = append $endpoints (printf "%s:%d" (include "tutti.podName" (dict "root" $ "pod" (div $rank $.Values.ranksPerPod))) (add $.Values.ports.formation (mod $rank $.Values.ranksPerPod))) -}}
{{- end -}}
{{- join "," $endpoints -}}
{{- end -}}

{{/* The command line of one rank: a command of Tutti and its options, or a program. */}}
{{- define "tutti.rankArgs" -}}
{{- $workload := .Values.workload -}}
{{- if $workload.program }}
{{- range $workload.program }}
- {{ . | quote }}
{{- end }}
{{- else }}
- {{ include "tutti.command" . }}
{{- if .Values.checkpoint.existingClaim }}
- --checkpoint={{ .Values.checkpoint.mountPath }}
{{- end }}
{{- with $workload.task }}
- --task={{ . }}
{{- end }}
{{- with $workload.classPath }}
- --class-path={{ join ":" . }}
{{- end }}
{{- end }}
{{- range $workload.args }}
- {{ . | quote }}
{{- end }}
{{- end -}}

{{/* The launcher that starts the ranks of a pod; Kubernetes replaces the index. */}}
{{- define "tutti.launchArgs" -}}
- launch
- --nproc-per-node={{ .Values.ranksPerPod }}
- --nnodes={{ include "tutti.pods" . }}
- --node-rank=$({{ ternary "TUTTI_POD_INDEX" "JOB_COMPLETION_INDEX" (eq .Values.workload.kind "StatefulSet") }})
- --master-addr={{ include "tutti.podName" (dict "root" . "pod" 0) }}
- --master-port={{ .Values.ports.rendezvous }}
{{- if include "tutti.elastic" . }}
- --max-restarts={{ ternary 1000000 (include "tutti.maxRestarts" .) (eq .Values.workload.kind "StatefulSet") }}
{{- end }}
{{- if .Values.workload.program }}
- --
{{- end }}
{{- end -}}

{{/* Name of the HTTP port of a rank of the pod. */}}
{{- define "tutti.httpPortName" -}}
{{- ternary "http" (printf "http-%d" (int .)) (eq (int .) 0) -}}
{{- end -}}

{{- define "tutti.tokenSecret" -}}
{{- .Values.token.existingSecret | default (printf "%s-token" (include "tutti.fullname" .)) -}}
{{- end -}}

{{/* Where a pod finds the token. */}}
{{- define "tutti.tokenFile" -}}
/run/secrets/tutti/token
{{- end -}}

{{- define "tutti.tokenVolume" -}}
- name: token
  secret:
    secretName: {{ include "tutti.tokenSecret" . | quote }}
    defaultMode: 0440
    items:
      - key: {{ .Values.token.key | quote }}
        path: {{ base (include "tutti.tokenFile" .) }}
{{- end -}}

{{- define "tutti.tlsSecret" -}}
{{- .Values.tls.secretName | default (printf "%s-tls" (include "tutti.fullname" .)) -}}
{{- end -}}

{{- define "tutti.tlsPeerName" -}}
{{- .Values.tls.peerName | default (printf "%s.%s.svc" (include "tutti.fullname" .) .Release.Namespace) -}}
{{- end -}}

{{/* Where pods find the Secret with the certificate. */}}
{{- define "tutti.tlsFolder" -}}
/run/secrets/tls
{{- end -}}

{{- define "tutti.httpScheme" -}}
{{- ternary "HTTPS" "HTTP" .Values.tls.http -}}
{{- end -}}

{{/* Name of a pod as DNS knows it, without its index. */}}
{{- define "tutti.podPrefix" -}}
{{- $name := include "tutti.fullname" . -}}
{{- ternary (printf "%s-ranks-0-" $name) (printf "%s-" $name) (eq .Values.workload.kind "JobSet") -}}
{{- end -}}

{{- define "tutti.podName" -}}
{{- printf "%s%d.%s" (include "tutti.podPrefix" .root) (int .pod) (include "tutti.fullname" .root) -}}
{{- end -}}

{{/* The headless Service's names and the pods' below them, as short and as long as DNS knows them, and what is given. */}}
{{- define "tutti.allowedHosts" -}}
{{- $name := include "tutti.fullname" . -}}
{{- $hosts := list -}}
{{- range $domain := list "" (printf ".%s" .Release.Namespace) (printf ".%s.svc" .Release.Namespace) (printf ".%s.svc.%s" .Release.Namespace .Values.clusterDomain) -}}
{{- $hosts = concat $hosts (list (print $name $domain) (print "*." $name $domain)) -}}
{{- end -}}
{{- join "," (concat $hosts .Values.http.allowedHosts) -}}
{{- end -}}

{{- define "tutti.terminationGracePeriodSeconds" -}}
{{- add .Values.timeouts.drainSeconds .Values.timeouts.graceMarginSeconds -}}
{{- end -}}

{{/* Where ranks reach each other, as in a NetworkPolicy's rule. */}}
{{- define "tutti.rankPorts" -}}
{{- if eq .Values.backend "nccl" -}}
# All ports: NCCL's connections use ephemeral ports.
{{- else if and (include "tutti.elastic" .) (gt (int .Values.ranksPerPod) 1) -}}
# All ports: the rank that leads the next generation listens at an ephemeral port while a stopped rank of its pod holds the rendezvous port.
{{- else -}}
ports:
  - protocol: TCP
    port: {{ .Values.ports.rendezvous }}
{{- range $local := until (int .Values.ranksPerPod) }}
  - protocol: TCP
    port: {{ add $.Values.ports.data $local }}
{{- end }}
{{- if include "tutti.elastic" . }}
{{- range $local := until (int .Values.ranksPerPod) }}
  - protocol: TCP
    port: {{ add $.Values.ports.formation $local }}
{{- end }}
{{- end }}
{{- end -}}
{{- end -}}

{{/* What the schema cannot say. */}}
{{- define "tutti.check" -}}
{{- $values := .Values -}}
{{- $ranks := int $values.ranksPerPod -}}
{{- $ports := list (int $values.ports.rendezvous) -}}
{{- range $local := until $ranks -}}
{{- $ports = concat $ports (list (add $values.ports.http $local | int) (add $values.ports.data $local | int) (add $values.ports.formation $local | int)) -}}
{{- end -}}
{{- if ne (len (uniq $ports)) (len $ports) -}}
{{- fail (printf "ports.http, ports.rendezvous, ports.formation and ports.data must differ, got %d, %d, %d and %d%s" (int $values.ports.http) (int $values.ports.rendezvous) (int $values.ports.formation) (int $values.ports.data) (ternary "" (printf ", and all but ports.rendezvous are one port for each of %d ranks" $ranks) (eq $ranks 1))) -}}
{{- end -}}
{{- if gt (add (max $values.ports.http $values.ports.data $values.ports.formation) $ranks -1) 65535 -}}
{{- fail (printf "ports.http, ports.data and ports.formation need %d ports each, up to 65535" $ranks) -}}
{{- end -}}
{{- if mod $values.worldSize $ranks -}}
{{- fail (printf "worldSize (%d) must be a multiple of ranksPerPod (%d)" (int $values.worldSize) $ranks) -}}
{{- end -}}
{{- if include "tutti.elastic" . -}}
{{- if gt (int $values.elastic.minRanks) (int $values.worldSize) -}}
{{- fail (printf "elastic.minRanks (%d) must not exceed worldSize (%d)" (int $values.elastic.minRanks) (int $values.worldSize)) -}}
{{- end -}}
{{- if le (int $values.timeouts.rendezvousSeconds) (int $values.timeouts.heartbeatSeconds) -}}
{{- fail (printf "timeouts.rendezvousSeconds (%d) must be more than timeouts.heartbeatSeconds (%d) in an elastic group, which waits so long for lost ranks before it continues" (int $values.timeouts.rendezvousSeconds) (int $values.timeouts.heartbeatSeconds)) -}}
{{- end -}}
{{- $endpoints := include "tutti.formationEndpoints" . -}}
{{- if gt (len $endpoints) 131000 -}}
{{- fail (printf "the endpoints of %d elastic ranks need %d bytes, and an environment variable has at most 128 KiB: use fewer ranks or a shorter name" (int $values.worldSize) (len $endpoints)) -}}
{{- end -}}
{{- if eq $values.backend "nccl" -}}
{{- fail "backend nccl cannot continue without a lost rank: unset elastic.minRanks" -}}
{{- end -}}
{{- if and (gt (int $values.gpu.count) 0) (not $values.workload.program) (eq (include "tutti.command" .) "train") -}}
{{- fail "an elastic group trains on the CPU: set gpu.count to 0, or unset elastic.minRanks" -}}
{{- end -}}
{{- if eq (include "tutti.command" .) "bench" -}}
{{- fail "bench cannot continue without a lost rank: unset elastic.minRanks" -}}
{{- end -}}
{{- if and $values.elastic.onStop (eq $values.workload.kind "StatefulSet") -}}
{{- fail "elastic.onStop needs workload.kind Job or JobSet: a serving rank that is stopped leaves the group" -}}
{{- end -}}
{{- if and (eq ($values.elastic.onStop | default "drain") "leave") $values.workload.program (eq $ranks 1) -}}
{{- fail "elastic.onStop leave needs a command of Tutti or ranksPerPod above 1: a program of your own decides what SIGTERM means" -}}
{{- end -}}
{{- else -}}
{{- range $name := list "quorum" "onStop" -}}
{{- if index $values.elastic $name -}}
{{- fail (printf "elastic.%s needs elastic.minRanks" $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if gt (int $values.timeouts.abortSeconds) (int $values.timeouts.heartbeatSeconds) -}}
{{- fail (printf "timeouts.abortSeconds (%d) must not exceed timeouts.heartbeatSeconds (%d)" (int $values.timeouts.abortSeconds) (int $values.timeouts.heartbeatSeconds)) -}}
{{- end -}}
{{- if and (eq $values.backend "nccl") (eq (int $values.gpu.count) 0) -}}
{{- fail "backend nccl needs a GPU in each pod: set gpu.count" -}}
{{- end -}}
{{- if gt (int $values.gpu.count) 0 -}}
{{- range $kind := list "limits" "requests" -}}
{{- if hasKey (index $values.resources $kind | default dict) $values.gpu.resource -}}
{{- fail (printf "resources.%s has %s, which gpu.count sets too: set gpu.count only" $kind $values.gpu.resource) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and (eq $values.backend "mpi") (gt (int $values.gpu.count) 0) -}}
{{- fail "backend mpi has no device memory: set gpu.count to 0, or backend to nccl" -}}
{{- end -}}
{{- if and (or $values.workload.task $values.workload.classPath) (ne (include "tutti.command" .) "train") -}}
{{- fail (printf "workload.task and workload.classPath need the command train, got %s" (include "tutti.command" .)) -}}
{{- end -}}
{{- if and $values.workload.program $values.javaOptions -}}
{{- fail "javaOptions are for commands of Tutti: JVM flags of a program are in workload.program" -}}
{{- end -}}
{{- if and $values.workload.classPath (not $values.workload.task) -}}
{{- fail "workload.classPath needs workload.task, the class in it" -}}
{{- end -}}
{{- if and $values.checkpoint.existingClaim (ne (include "tutti.command" .) "train") -}}
{{- fail (printf "checkpoint.existingClaim needs the command train, got %s" (include "tutti.command" .)) -}}
{{- end -}}
{{- $certificate := $values.tls.certManager -}}
{{- if le (trimSuffix "h" $certificate.duration | int) (trimSuffix "h" $certificate.renewBefore | int) -}}
{{- fail (printf "tls.certManager.renewBefore (%s) must be less than tls.certManager.duration (%s)" $certificate.renewBefore $certificate.duration) -}}
{{- end -}}
{{- include "tutti.checkPlaces" . -}}
{{- end -}}

{{/*
Probes, Service, policy and test ask where the values say, so nothing else may move a rank. Names are compared as Spring does:
without hyphens, underscores and case.
*/}}
{{- define "tutti.checkPlaces" -}}
{{- $values := .Values -}}
{{- $numbers := "the chart numbers the ranks by worldSize and ranksPerPod" -}}
{{- $http := "probes depend on ports.http: set that" -}}
{{- $anywhere := dict
  "tutti[.](rank|worldsize)" $numbers
  "tutti[.]masteraddress" "peers depend on the first pod"
  "tutti[.]masterport" "peers depend on ports.rendezvous: set that"
  "tutti[.]elastic[.](minranks|maxranks|endpoints)" "the pods and ports of an elastic group depend on elastic.minRanks: set that"
  "tutti[.]security[.]token" "the chart gives the ranks a token: set token.value or token.existingSecret"
  "tutti[.]backend" "the NetworkPolicy depends on backend: set that"
-}}
{{- $options := dict
  "tutti[.](transport[.]port|rendezvous[.]bindaddress)" "peers depend on the values under ports"
  "tutti[.]timeout[.](abort|collective|drain|heartbeat|rendezvous)" "probes, alerts and the pods' grace period depend on the values under timeouts: set these"
-}}
{{- if not $values.workload.program -}}
{{- $anywhere = merge $anywhere (dict
  "(management[.])?server[.](port|address)" $http
  "(management[.])?server[.]ssl([.].*)?" "probes depend on tls.http: set that"
  "management[.]endpoints[.]web[.](basepath|pathmapping[.]health)|tutti[.]http[.]basepath" "probes and test depend on its default"
  "management[.]endpoints[.]web[.]pathmapping[.]prometheus" "a PodMonitor depends on its default"
  "server[.]servlet[.]contextpath|spring[.]mvc[.]servlet[.]path" "probes and test depend on its default")
-}}
{{- $options = merge $options (dict "httpport|tutti[.]http[.](port|address)" $http) -}}
{{- end -}}
{{- $settings := list -}}
{{- range $values.extraEnv -}}
{{- $settings = append $settings (dict "text" (printf "extraEnv sets %s" .name) "name" (lower .name | replace "_" "") "value" .value "dot" "" "reasons" $anywhere) -}}
{{- end -}}
{{- range $values.workload.args -}}
{{- $option := splitn "=" 2 . -}}
{{- if hasPrefix "--" . -}}
{{- $settings = append $settings (dict "text" (printf "workload.args has %s" .) "name" (include "tutti.canonical" $option._0) "value" $option._1 "dot" "[.]" "reasons" (merge $options $anywhere)) -}}
{{- end -}}
{{- end -}}
{{- range $name, $value := include "tutti.flat" $values.config | fromJson -}}
{{- $settings = append $settings (dict "text" (printf "config sets %s" $name) "name" (include "tutti.canonical" $name) "value" $value "dot" "[.]" "reasons" $anywhere) -}}
{{- end -}}
{{- range $setting := $settings -}}
{{- range $pattern, $reason := $setting.reasons -}}
{{- if regexMatch (printf "^(%s)$" $pattern | replace "[.]" $setting.dot) $setting.name -}}
{{- fail (printf "%s, but %s" $setting.text $reason) -}}
{{- end -}}
{{- end -}}
{{- if and (regexMatch (replace "[.]" .dot "^spring[.]profiles[.]((active|include)([.][0-9]+)?|group[.].*)$") .name) (regexMatch "(^|,) *(tcp|mpi|nccl) *(,|$)" (join "," .value)) -}}
{{- fail (printf "%s to a backend, but the NetworkPolicy depends on backend: set that" .text) -}}
{{- end -}}
{{- end -}}
{{- $own := list -}}
{{- range (include "tutti.ownEnv" . | fromYamlArray) -}}
{{- $own = append $own (replace "_" "" .name) -}}
{{- end -}}
{{- range $values.extraEnv -}}
{{- if has (replace "_" "" .name) $own -}}
{{- fail (printf "extraEnv sets %s, which the chart sets from another value" .name) -}}
{{- end -}}
{{- if has .name (list "RANK" "WORLD_SIZE") -}}
{{- fail (printf "extraEnv sets %s, but %s" .name $numbers) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The name of a property without hyphens, underscores, case and the brackets of an index or key. */}}
{{- define "tutti.canonical" -}}
{{- regexReplaceAll "[.]?\\[([^]]*)\\]" (lower . | replace "-" "" | replace "_" "") ".${1}" -}}
{{- end -}}

{{/* The names and values of config or a section of it, however its names are nested. */}}
{{- define "tutti.flat" -}}
{{- $flat := dict -}}
{{- range $key, $value := . -}}
{{- if and (kindIs "map" $value) (not (empty $value)) -}}
{{- range $name, $leaf := include "tutti.flat" $value | fromJson -}}
{{- $_ := set $flat (printf "%s.%s" $key $name) $leaf -}}
{{- end -}}
{{- else -}}
{{- $_ := set $flat $key $value -}}
{{- end -}}
{{- end -}}
{{- toJson $flat -}}
{{- end -}}
