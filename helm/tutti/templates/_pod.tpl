{{/* The pod of one rank, the same under every kind of workload. */}}
{{- define "tutti.podTemplate" -}}
{{- include "tutti.check" . -}}
{{- $values := .Values -}}
metadata:
  labels:
    {{- include "tutti.labels" . | nindent 4 }}
    app.kubernetes.io/component: rank
    {{- with $values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    {{- if $values.config }}
    checksum/config: {{ toYaml $values.config | sha256sum }}
    {{- end }}
    {{- if eq $values.gang.scheduler "volcano" }}
    scheduling.k8s.io/group-name: {{ include "tutti.fullname" . | quote }}
    {{- end }}
    kubectl.kubernetes.io/default-container: tutti
    {{- with $values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  {{- include "tutti.anyPod" . | nindent 2 }}
  {{- if ne $values.workload.kind "StatefulSet" }}
  restartPolicy: Never
  {{- end }}
  {{- if eq $values.workload.kind "Job" }}
  subdomain: {{ include "tutti.fullname" . | quote }}
  {{- end }}
  terminationGracePeriodSeconds: {{ include "tutti.terminationGracePeriodSeconds" . }}
  {{- with ternary "volcano" $values.schedulerName (eq $values.gang.scheduler "volcano") }}
  schedulerName: {{ . | quote }}
  {{- end }}
  {{- with $values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- range . }}
    - {{- toYaml . | nindent 6 }}
      {{- if not .labelSelector }}
      labelSelector:
        matchLabels:
          {{- include "tutti.rankLabels" $ | nindent 10 }}
      {{- end }}
    {{- end }}
  {{- end }}
  {{- with $values.initContainers }}
  initContainers:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: tutti
      image: {{ include "tutti.image" . }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      {{- if gt (int $values.ranksPerPod) 1 }}
      args:
        {{- include "tutti.launchArgs" . | nindent 8 }}
        {{- include "tutti.rankArgs" . | trim | nindent 8 }}
      {{- else }}
      {{ ternary "command" "args" (not (empty $values.workload.program)) }}:
        {{- include "tutti.rankArgs" . | trim | nindent 8 }}
      {{- end }}
      env:
        {{- include "tutti.env" . | nindent 8 }}
      {{- with $values.extraEnvFrom }}
      envFrom:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      ports:
        {{- range $local := until (int $values.ranksPerPod) }}
        - name: {{ include "tutti.httpPortName" $local }}
          containerPort: {{ add $values.ports.http $local }}
        {{- end }}
      {{- if $values.probes.enabled }}
      {{- include "tutti.probes" . | nindent 6 }}
      {{- end }}
      resources:
        {{- include "tutti.resources" . | nindent 8 }}
      securityContext:
        {{- toYaml $values.securityContext | nindent 8 }}
      volumeMounts:
        - name: shm
          mountPath: /dev/shm
        - name: tmp
          mountPath: /tmp
        - name: token
          mountPath: {{ dir (include "tutti.tokenFile" .) }}
          readOnly: true
        {{- if $values.tls.enabled }}
        - name: tls
          mountPath: {{ include "tutti.tlsFolder" . }}
          readOnly: true
        {{- end }}
        {{- if $values.config }}
        - name: config
          mountPath: /app/config
          readOnly: true
        {{- end }}
        {{- if $values.checkpoint.existingClaim }}
        - name: checkpoints
          mountPath: {{ $values.checkpoint.mountPath }}
        {{- end }}
        {{- with $values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - name: shm
      emptyDir:
        medium: Memory
        sizeLimit: {{ $values.shm.size }}
    - name: tmp
      emptyDir:
        sizeLimit: {{ $values.tmp.size }}
    {{- include "tutti.tokenVolume" . | nindent 4 }}
    {{- if $values.tls.enabled }}
    # If the Secret lacks a file, the pod does not start.
    - name: tls
      secret:
        secretName: {{ include "tutti.tlsSecret" . | quote }}
        defaultMode: 0440
        items:
          - key: tls.crt
            path: tls.crt
          - key: tls.key
            path: tls.key
          - key: ca.crt
            path: ca.crt
    {{- end }}
    {{- if $values.config }}
    - name: config
      configMap:
        name: {{ include "tutti.fullname" . }}-config
    {{- end }}
    {{- with $values.checkpoint.existingClaim }}
    - name: checkpoints
      persistentVolumeClaim:
        claimName: {{ . | quote }}
    {{- end }}
    {{- with $values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}

{{/* What the ranks' pods and the test's have in common. */}}
{{- define "tutti.anyPod" -}}
automountServiceAccountToken: false
# Service links would set variables such as TUTTI_HTTP_PORT, if the namespace has a service tutti-http.
enableServiceLinks: false
{{- with .Values.serviceAccountName }}
serviceAccountName: {{ . | quote }}
{{- end }}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . | quote }}
  {{- end }}
{{- end }}
{{- with .Values.runtimeClassName }}
runtimeClassName: {{ . | quote }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
securityContext:
  {{- toYaml .Values.podSecurityContext | nindent 2 }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "tutti.env" -}}
{{- include "tutti.ownEnv" . -}}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Jobs number their pods by JOB_COMPLETION_INDEX on their own. */}}
{{- define "tutti.ownEnv" -}}
{{- $values := .Values -}}
{{- if eq (int $values.ranksPerPod) 1 }}
- name: TUTTI_WORLD_SIZE
  value: {{ $values.worldSize | quote }}
{{- end }}
{{- if eq $values.workload.kind "StatefulSet" }}
- name: TUTTI_POD_INDEX
  valueFrom:
    fieldRef:
      fieldPath: metadata.labels['apps.kubernetes.io/pod-index']
{{- end }}
- name: MASTER_ADDR
  value: {{ include "tutti.podName" (dict "root" . "pod" 0) }}
- name: MASTER_PORT
  value: {{ $values.ports.rendezvous | quote }}
- name: TUTTI_RENDEZVOUS_JOBID
  value: {{ .Release.Namespace }}/{{ include "tutti.fullname" . }}
# Not the rendezvous address: DNS may not resolve it yet when rank 0 starts to listen.
- name: TUTTI_RENDEZVOUS_BINDADDRESS
  value: 0.0.0.0
{{- if include "tutti.elastic" . }}
- name: TUTTI_ELASTIC_MINRANKS
  value: {{ $values.elastic.minRanks | quote }}
- name: TUTTI_ELASTIC_ENDPOINTS
  value: {{ include "tutti.formationEndpoints" . }}
{{- if eq ($values.elastic.onStop | default "drain") "leave" }}
- name: TUTTI_STOP_SIGNAL
  value: KILL
{{- end }}
{{- with $values.elastic.quorum }}
- name: TUTTI_ELASTIC_QUORUM
  value: {{ . }}
{{- end }}
{{- end }}
- name: TUTTI_TRANSPORT_PORT
  value: {{ $values.ports.data | quote }}
- name: TUTTI_HTTP_ADDRESS
  value: 0.0.0.0
- name: TUTTI_HTTP_PORT
  value: {{ $values.ports.http | quote }}
- name: TUTTI_HTTP_ALLOWEDHOSTS
  value: {{ include "tutti.allowedHosts" . | quote }}
- name: TUTTI_SECURITY_TOKENFILE
  value: {{ include "tutti.tokenFile" . }}
{{- if $values.tls.enabled }}
- name: TUTTI_TLS_BUNDLE
  value: ranks
- name: TUTTI_TLS_PEERNAME
  value: {{ include "tutti.tlsPeerName" . | quote }}
- name: SPRING_SSL_BUNDLE_PEM_RANKS_RELOADONUPDATE
  value: "true"
- name: SPRING_SSL_BUNDLE_PEM_RANKS_KEYSTORE_CERTIFICATE
  value: file:{{ include "tutti.tlsFolder" . }}/tls.crt
- name: SPRING_SSL_BUNDLE_PEM_RANKS_KEYSTORE_PRIVATEKEY
  value: file:{{ include "tutti.tlsFolder" . }}/tls.key
- name: SPRING_SSL_BUNDLE_PEM_RANKS_TRUSTSTORE_CERTIFICATE
  value: file:{{ include "tutti.tlsFolder" . }}/ca.crt
{{- if $values.tls.http }}
# HTTP then detects a key of another certificate while a renewed Secret is being written.
- name: SPRING_SSL_BUNDLE_PEM_RANKS_KEYSTORE_VERIFYKEYS
  value: "true"
- name: SERVER_SSL_BUNDLE
  value: ranks
{{- end }}
{{- end }}
- name: TUTTI_TIMEOUT_RENDEZVOUS
  value: {{ $values.timeouts.rendezvousSeconds }}s
- name: TUTTI_TIMEOUT_COLLECTIVE
  value: {{ $values.timeouts.collectiveSeconds }}s
- name: TUTTI_TIMEOUT_HEARTBEAT
  value: {{ $values.timeouts.heartbeatSeconds }}s
- name: TUTTI_TIMEOUT_ABORT
  value: {{ $values.timeouts.abortSeconds }}s
- name: TUTTI_TIMEOUT_DRAIN
  value: {{ $values.timeouts.drainSeconds }}s
{{- if eq $values.workload.kind "StatefulSet" }}
- name: TUTTI_SERVE_LINGER
  value: {{ include "tutti.orElse" (list $values.statefulSet.lingerSeconds 30) }}s
{{- end }}
{{- if ne $values.backend "tcp" }}
- name: SPRING_PROFILES_ACTIVE
  value: {{ $values.backend }}
# For programs without Spring.
- name: TUTTI_BACKEND
  value: {{ $values.backend }}
{{- end }}
{{- if not $values.workload.program }}
- name: TUTTI_VECTORS
  value: {{ $values.vectors | quote }}
{{- $heap := "" }}
{{- if gt (int $values.ranksPerPod) 1 }}
{{- $heap = printf "-XX:MaxRAMPercentage=%.2f " (divf 25.0 $values.ranksPerPod) }}
{{- end }}
{{- with print $heap $values.javaOptions | trim }}
- name: TUTTI_JAVA_OPTS
  value: {{ . | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{/* A value that was given, though it be 0 or false, or else another. */}}
{{- define "tutti.orElse" -}}
{{- ternary (last .) (first .) (kindIs "invalid" (first .)) -}}
{{- end -}}

{{/* Liveness looks at the pod's own ranks alone: a dead peer must not restart the others. */}}
{{- define "tutti.probes" -}}
{{- $period := 5 -}}
{{- $startMarginSeconds := 60 -}}
startupProbe:
{{- with .Values.probes.startup }}
  {{- toYaml . | nindent 2 }}
{{- else }}
  {{- include "tutti.healthCheck" (dict "root" . "kind" "liveness") | nindent 2 }}
  periodSeconds: {{ $period }}
  failureThreshold: {{ div (add .Values.timeouts.rendezvousSeconds $startMarginSeconds $period -1) $period }}
{{- end }}
livenessProbe:
{{- with .Values.probes.liveness }}
  {{- toYaml . | nindent 2 }}
{{- else }}
  {{- include "tutti.healthCheck" (dict "root" . "kind" "liveness") | nindent 2 }}
  periodSeconds: 10
  failureThreshold: 6
{{- end }}
readinessProbe:
{{- with .Values.probes.readiness }}
  {{- toYaml . | nindent 2 }}
{{- else }}
  {{- include "tutti.healthCheck" (dict "root" . "kind" "readiness") | nindent 2 }}
  periodSeconds: 5
  failureThreshold: 1
{{- end }}
{{- end -}}

{{/*
A request to the rank; in a pod of several, a script that asks each of them. A pod of an elastic group lives while one of its
ranks does: its launcher restarts the others, or lets the group continue without them. So does a pod of a program, whose ranks
may end one after another, and one of a StatefulSet, where the remaining ranks of a broken group answer requests for a while.
*/}}
{{- define "tutti.healthCheck" -}}
{{- if gt (int .root.Values.ranksPerPod) 1 -}}
exec:
  command: [sh, /app/health.sh, {{ .kind }}, {{ .root.Values.ranksPerPod | quote }}{{ if and (eq .kind "liveness") (or (include "tutti.elastic" .root) .root.Values.workload.program (eq .root.Values.workload.kind "StatefulSet")) }}, "1"{{ end }}]
timeoutSeconds: 15
{{- else -}}
httpGet:
  path: /actuator/health/{{ .kind }}
  port: http
  scheme: {{ include "tutti.httpScheme" .root }}
timeoutSeconds: 5
{{- end -}}
{{- end -}}

{{- define "tutti.resources" -}}
{{- $resources := deepCopy .Values.resources -}}
{{- if gt (int .Values.gpu.count) 0 -}}
{{- $limits := $resources.limits | default dict -}}
{{- $_ := set $limits .Values.gpu.resource (mul .Values.gpu.count .Values.ranksPerPod) -}}
{{- $_ := set $resources "limits" $limits -}}
{{- end -}}
{{- toYaml $resources -}}
{{- end -}}
