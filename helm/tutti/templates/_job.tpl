{{- define "tutti.maxRestarts" -}}
{{- include "tutti.orElse" (list .Values.job.maxRestarts 3) -}}
{{- end -}}

{{/*
The action of a Job for each exit code. Pods that Kubernetes evicts do not count: the other
ranks then drain (79) and all restart. A code that a retry cannot change fails the job at once.
Transient failures (70 internal, 75 deadline, 76 lost peer, signals) count against maxRestarts
per rank, so that one failure of the group counts once for each rank. An elastic group loses and
replaces single ranks: under a command of Tutti it ends well once its fewest pods have; it fails when fewer can run.
*/}}
{{- define "tutti.jobSpec" -}}
{{- $job := .Values.job -}}
completionMode: Indexed
completions: {{ include "tutti.pods" . }}
parallelism: {{ include "tutti.pods" . }}
{{- if and (eq .Values.workload.kind "JobSet") (not (include "tutti.elastic" .)) }}
# JobSet restarts all ranks together.
backoffLimit: 0
{{- else }}
backoffLimitPerIndex: {{ include "tutti.maxRestarts" . }}
maxFailedIndexes: {{ sub (include "tutti.pods" .) (include "tutti.minPods" .) }}
{{- end }}
{{- if and (include "tutti.elastic" .) (not .Values.workload.program) (semverCompare ">=1.31-0" .Capabilities.KubeVersion.Version) }}
# Under a command of Tutti all ranks of the last generation end together; a replacement that has not joined by then has no job left.
successPolicy:
  rules:
    - succeededCount: {{ include "tutti.minPods" . }}
{{- end }}
# A pod is replaced only after its previous pod has ended.
podReplacementPolicy: Failed
podFailurePolicy:
  rules:
    - action: Ignore
      onPodConditions:
        - type: DisruptionTarget
          status: "True"
    # 64 bad configuration, 65 bad data or diverged loss, 77 authentication failed, 78 mismatch, 80 aborted on request
    - action: FailJob
      onExitCodes:
        containerName: tutti
        operator: In
        values: [64, 65, 77, 78, 80]
    # 79 stopped on request after a checkpoint
    - action: {{ ternary "FailJob" "Ignore" (eq ($job.onDrain | default "resume") "stop") }}
      onExitCodes:
        containerName: tutti
        operator: In
        values: [79]
    # 70 internal, 75 deadline passed, 76 peer lost
    - action: Count
      onExitCodes:
        containerName: tutti
        operator: In
        values: [70, 75, 76]
{{- if not (kindIs "invalid" $job.activeDeadlineSeconds) }}
activeDeadlineSeconds: {{ $job.activeDeadlineSeconds }}
{{- end }}
template:
  {{- include "tutti.podTemplate" . | nindent 2 }}
{{- end -}}
