{{- define "archfit.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 53 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 53 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 53 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "archfit.selectorLabels" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: {{ .Values.mode }}
{{- end -}}

{{- define "archfit.labels" -}}
{{ include "archfit.selectorLabels" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end -}}

{{- define "archfit.metadata" -}}
metadata:
  name: {{ include "archfit.fullname" . }}
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "archfit.labels" . | nindent 4 }}
{{- end -}}

{{- define "archfit.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ default $.Chart.AppVersion .tag }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "archfit.configuration" -}}
{{- if kindIs "string" .Values.configuration -}}
{{ .Values.configuration }}
{{- else -}}
{{ toYaml .Values.configuration }}
{{- end -}}
{{- end -}}

{{- define "archfit.tlsSecret" -}}
{{- default (printf "%s-tls" (include "archfit.fullname" .)) .Values.certificate.secretName -}}
{{- end -}}

{{- define "archfit.dnsName" -}}
{{ include "archfit.fullname" . }}.{{ .Release.Namespace }}.svc
{{- end -}}

{{- define "archfit.issuerRef" -}}
{{- if .Values.certificate.issuerRef -}}
{{ toYaml .Values.certificate.issuerRef }}
{{- else -}}
group: cert-manager.io
kind: Issuer
name: {{ include "archfit.fullname" . }}-ca
{{- end -}}
{{- end -}}

{{/* Of the job that renews the policy. A CronJob's name has 52 letters at most. */}}
{{- define "archfit.policyName" -}}
{{ include "archfit.fullname" . | trunc 45 | trimSuffix "-" }}-policy
{{- end -}}
