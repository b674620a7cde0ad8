{{- define "farm.environment" -}}
envFrom:
  - secretRef: {name: {{ .Values.secretName }}}
env:
  - {name: PUBLIC_ORIGIN, value: {{ .Values.publicOrigin | quote }}}
  - {name: RAY_AUTH_MODE, value: token}
  - {name: RAY_USAGE_STATS_ENABLED, value: "0"}
  - {name: WORKERS_MAX, value: {{ mul .Values.workers.maxReplicas .Values.workers.gpusPerPod .Values.workers.workersPerGpu | quote }}}
  - {name: WORKERS_MIN, value: {{ mul .Values.workers.minReplicas .Values.workers.gpusPerPod .Values.workers.workersPerGpu | quote }}}
  - {name: WORKERS_PER_GPU, value: {{ .Values.workers.workersPerGpu | quote }}}
  - {name: NVIDIA_DRIVER_CAPABILITIES, value: "graphics,video,compute,utility"}
{{- end }}

{{- /* Schedulers send workers their settings. Workers draw the documents of strangers: they get neither the database nor JWT_SECRET. */}}
{{- define "farm.worker_environment" -}}
env:
  {{- range tuple "AWS_ACCESS_KEY_ID" "AWS_SECRET_ACCESS_KEY" "RAY_AUTH_TOKEN" }}
  - name: {{ . }}
    valueFrom: {secretKeyRef: {name: {{ $.Values.secretName }}, key: {{ . }}, optional: true}}
  {{- end }}
  - {name: RAY_AUTH_MODE, value: token}
  - {name: RAY_USAGE_STATS_ENABLED, value: "0"}
  - {name: NVIDIA_DRIVER_CAPABILITIES, value: "graphics,video,compute,utility"}
{{- end }}

{{- define "farm.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag }}
{{- end }}
