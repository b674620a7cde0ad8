{{- /* Every pod runs as the image's ordinary user; `fsGroup` lets that user write to volumes. */}}
{{- define "farm.pod_security" -}}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- /* Ray's nodes write beside their programs. All other containers have a read-only root, and /tmp and /data as volumes. */}}
{{- define "farm.node_security" -}}
securityContext:
  allowPrivilegeEscalation: false
  capabilities: {drop: [ALL]}
{{- end }}

{{- define "farm.container_security" -}}
securityContext:
  allowPrivilegeEscalation: false
  capabilities: {drop: [ALL]}
  readOnlyRootFilesystem: true
{{- end }}
