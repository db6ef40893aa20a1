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
{{- fail (printf "the name %q is no name for a Service: it must begin with a letter and hold a-z, 0-9 and - only; set fullnameOverride" $name) -}}
{{- end -}}
{{- $name -}}
{{- end -}}

{{- define "tutti.selectorLabels" -}}
app.kubernetes.io/name: {{ include "tutti.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
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
kueue.x-k8s.io/queue-name: {{ .Values.gang.queue }}
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
    secretName: {{ include "tutti.tokenSecret" . }}
    defaultMode: 0440
    items:
      - key: {{ .Values.token.key }}
        path: {{ base (include "tutti.tokenFile" .) }}
{{- end -}}

{{- define "tutti.tlsSecret" -}}
{{- .Values.tls.secretName | default (printf "%s-tls" (include "tutti.fullname" .)) -}}
{{- end -}}

{{- define "tutti.tlsPeerName" -}}
{{- .Values.tls.peerName | default (printf "%s.%s.svc" (include "tutti.fullname" .) .Release.Namespace) -}}
{{- end -}}

{{/* Name of a rank's pod as DNS knows it, without the rank. */}}
{{- define "tutti.podPrefix" -}}
{{- $name := include "tutti.fullname" . -}}
{{- ternary (printf "%s-ranks-0-" $name) (printf "%s-" $name) (eq .Values.workload.kind "JobSet") -}}
{{- end -}}

{{- define "tutti.podName" -}}
{{- printf "%s%d.%s" (include "tutti.podPrefix" .root) (int .rank) (include "tutti.fullname" .root) -}}
{{- end -}}

{{- define "tutti.terminationGracePeriodSeconds" -}}
{{- add .Values.timeouts.drainSeconds .Values.timeouts.graceMarginSeconds -}}
{{- end -}}

{{/* What the schema cannot say. */}}
{{- define "tutti.check" -}}
{{- $ports := list (int .Values.ports.http) (int .Values.ports.meeting) (int .Values.ports.data) -}}
{{- if ne (len (uniq $ports)) 3 -}}
{{- fail (printf "ports.http, ports.meeting and ports.data must differ, got %d, %d and %d" (index $ports 0) (index $ports 1) (index $ports 2)) -}}
{{- end -}}
{{- if gt (int .Values.timeouts.abortSeconds) (int .Values.timeouts.heartbeatSeconds) -}}
{{- fail (printf "timeouts.abortSeconds (%d) must not exceed timeouts.heartbeatSeconds (%d)" (int .Values.timeouts.abortSeconds) (int .Values.timeouts.heartbeatSeconds)) -}}
{{- end -}}
{{- if and (eq .Values.backend "nccl") (eq (int .Values.gpu.count) 0) -}}
{{- fail "backend nccl needs a GPU in each pod: set gpu.count" -}}
{{- end -}}
{{- if and .Values.checkpoint.existingClaim (ne (include "tutti.command" .) "train") -}}
{{- fail (printf "checkpoint.existingClaim needs the command train, and it is %s" (include "tutti.command" .)) -}}
{{- end -}}
{{- end -}}
