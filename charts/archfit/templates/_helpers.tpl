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

{{/* For who renders without a look into the cluster: each rendering would have another CA. */}}
{{- define "archfit.secretCommands" -}}
{{- $secret := include "archfit.tlsSecret" . }}
{{- $dns := include "archfit.dnsName" . }}
certificate.source: with helm, Helm has to look into the cluster, or each rendering has another certificate. helm template, Argo CD and a dry run do not look (--dry-run=server does): let cert-manager make the certificate (certificate.source=cert-manager), or make a Secret once:

  openssl req -x509 -newkey rsa:2048 -nodes -days {{ .Values.certificate.days }} -subj /CN=archfit -addext subjectAltName=DNS:{{ $dns }} -addext keyUsage=critical,digitalSignature,keyCertSign -addext extendedKeyUsage=serverAuth -keyout tls.key -out tls.crt
  kubectl create secret tls {{ $secret }} --namespace {{ .Release.Namespace }} --cert tls.crt --key tls.key

and render with

  --set certificate.source=secret,certificate.secretName={{ $secret }} --set-file certificate.caBundle=tls.crt

{{ end -}}

{{/* The bytes of a quantity of Kubernetes; nothing for one that is written otherwise, which the API server judges. */}}
{{- define "archfit.bytes" -}}
{{- $units := dict "" 1 "k" 1000 "M" 1000000 "G" 1000000000 "T" 1000000000000 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 -}}
{{- $text := kindIs "string" . | ternary (toString .) (int64 . | toString) -}}
{{- if regexMatch "^[0-9]+(\\.[0-9]+)?(k|M|G|T|Ki|Mi|Gi|Ti)?$" $text -}}
{{- mulf (regexFind "^[0-9.]+" $text | float64) (get $units (regexFind "[A-Za-z]*$" $text)) | int64 -}}
{{- end -}}
{{- end -}}

{{/* Ends with a message. `helm lint` passes over `fail`, and stops at an `include` of what nothing defines. */}}
{{- define "archfit.refuse" -}}
{{- fail . -}}
{{- include . (dict) -}}
{{- end -}}

{{/* The paths, a line each, at which a value differs from its default, from (value, default, path). */}}
{{- define "archfit.changed" -}}
{{- if and (kindIs "map" .value) (kindIs "map" .default) -}}
{{- range $key, $value := .value -}}
{{- include "archfit.changed" (dict "value" $value "default" (get $.default $key) "path" (printf "%s.%s" $.path $key)) -}}
{{- end -}}
{{- else if and .value (ne (toJson .value) (toJson .default)) -}}
{{ .path }}{{ "\n" }}
{{- else if and (kindIs "bool" .value) (ne .value .default) -}}
{{ .path }}{{ "\n" }}
{{- end -}}
{{- end -}}

{{/* Of the job that renews the policy. A CronJob's name has 52 letters at most. */}}
{{- define "archfit.policyName" -}}
{{ include "archfit.fullname" . | trunc 45 | trimSuffix "-" }}-policy
{{- end -}}

{{/* The pod that writes the policy. */}}
{{- define "archfit.policyPod" -}}
metadata:
  labels:
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
    {{- include "archfit.selectorLabels" . | nindent 4 }}
  {{- with .Values.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  restartPolicy: Never
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  serviceAccountName: {{ include "archfit.policyName" . }}
  # Without this, the kubelet sets ARCHFIT_* variables for a Service whose name begins with archfit.
  enableServiceLinks: false
  {{- with .Values.podSecurityContext }}
  securityContext:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: archfit
      image: {{ include "archfit.image" . }}
      {{- if ne .Values.image.pullPolicy "IfNotPresent" }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      {{- end }}
      command:
        - archfit
        - policy
        - --live
        - --apply
        {{- with .Values.policy }}
        {{- if ne .carrier "literal" }}
        - --carrier
        - {{ .carrier }}
        {{- end }}
        {{- range .namespaceSelectors }}
        - --namespace-selector
        - {{ . | quote }}
        {{- end }}
        {{- if ne .apiVersion "v1" }}
        - --api-version
        - {{ .apiVersion }}
        {{- end }}
        {{- if ne .name "archfit.dev" }}
        - --name
        - {{ .name | quote }}
        {{- end }}
        {{- if .deny }}
        - --deny
        {{- end }}
        {{- if ne .maxAge "7d" }}
        - --max-age
        - {{ .maxAge | quote }}
        {{- end }}
        {{- end }}
        {{- with .Values.extraArgs }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      env:
        - name: ARCHFIT_CONFIG
          value: /etc/archfit/archfit.yaml
        - name: HOME
          value: /tmp
        {{- if .Values.registrySecret }}
        - name: ARCHFIT_AUTHFILE
          value: /etc/archfit/registries/config.json
        {{- end }}
        {{- with .Values.extraEnv }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- with .Values.policy.resources }}
      resources:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop:
            - ALL
      volumeMounts:
        - name: configuration
          mountPath: /etc/archfit
          readOnly: true
        - name: tmp
          mountPath: /tmp
        {{- if .Values.registrySecret }}
        - name: registries
          mountPath: /etc/archfit/registries
          readOnly: true
        {{- end }}
        {{- with .Values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - name: configuration
      configMap:
        name: {{ include "archfit.policyName" . }}
    - name: tmp
      emptyDir:
        sizeLimit: 256Mi
    {{- with .Values.registrySecret }}
    - name: registries
      secret:
        secretName: {{ . }}
        defaultMode: 288
        items:
          - key: .dockerconfigjson
            path: config.json
    {{- end }}
    {{- with .Values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}

{{/* Another text for another pod or configuration: a Job that exists cannot be changed. */}}
{{- define "archfit.firstJobName" -}}
{{ include "archfit.policyName" . }}-{{ printf "%s%s" (include "archfit.policyPod" .) (include "archfit.configuration" .) | sha256sum | trunc 10 }}
{{- end -}}

{{/* Of the audits. */}}
{{- define "archfit.auditName" -}}
{{ include "archfit.fullname" . | trunc 45 | trimSuffix "-" | trimSuffix "-audit" }}-audit
{{- end -}}

{{- define "archfit.auditMetadata" -}}
name: {{ include "archfit.auditName" . }}
namespace: {{ .Release.Namespace }}
labels:
  {{- include "archfit.auditLabels" . | nindent 2 }}
{{- end -}}

{{- define "archfit.auditLabels" -}}
{{ include "archfit.labels" . | replace (printf "component: %s" .Values.mode) "component: audit" }}
{{- end -}}

{{/* One of the Jobs of an audit in parts, from (root, name, weight). Helm runs them one after the other. */}}
{{- define "archfit.auditJobMetadata" -}}
name: {{ include "archfit.auditName" .root }}-{{ .name }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "archfit.auditLabels" .root | nindent 2 }}
annotations:
  helm.sh/hook: post-install,post-upgrade
  helm.sh/hook-weight: {{ .weight | quote }}
  helm.sh/hook-delete-policy: before-hook-creation
{{- end -}}

{{/* The pod of an audit, from (root, token, asks, first, words). token: whether it reads the cluster. asks: whether it
asks registries. first: steps before the last, each of (name, asks, words). words: of the last step. */}}
{{- define "archfit.auditPod" -}}
{{- $last := dict "name" "archfit" "asks" (and .asks (not .first)) "words" .words -}}
metadata:
  labels:
    {{- with .root.Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
    {{- include "archfit.auditLabels" .root | nindent 4 }}
  {{- with .root.Values.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  restartPolicy: Never
  {{- with .root.Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with .root.Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  serviceAccountName: {{ include "archfit.auditName" .root }}
  automountServiceAccountToken: {{ .token }}
  # Without this, the kubelet sets ARCHFIT_* variables for a Service whose name begins with archfit.
  enableServiceLinks: false
  {{- with .root.Values.podSecurityContext }}
  securityContext:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .root.Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .root.Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .root.Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .first }}
  initContainers:
    {{- range . }}
    {{- include "archfit.auditStep" (dict "root" $.root "step" .) | nindent 4 }}
    {{- end }}
  {{- end }}
  containers:
    {{- include "archfit.auditStep" (dict "root" .root "step" $last) | nindent 4 }}
  volumes:
    - name: configuration
      configMap:
        name: {{ include "archfit.auditName" .root }}
    - name: audit
      persistentVolumeClaim:
        claimName: {{ default (include "archfit.auditName" .root) .root.Values.audit.claim }}
    - name: tmp
      emptyDir:
        sizeLimit: 1Gi
    {{- if .asks }}
    {{- with .root.Values.registrySecret }}
    - name: registries
      secret:
        secretName: {{ . }}
        defaultMode: 288
        items:
          - key: .dockerconfigjson
            path: config.json
    {{- end }}
    {{- with .root.Values.audit.cacheSecret }}
    - name: cache
      secret:
        secretName: {{ . }}
        defaultMode: 288
        items:
          - key: password
            path: password
    {{- end }}
    {{- end }}
{{- end -}}

{{- define "archfit.auditStep" -}}
{{- $asks := .step.asks -}}
- name: {{ .step.name }}
  {{- with .root }}
  image: {{ include "archfit.image" . }}
  {{- if ne .Values.image.pullPolicy "IfNotPresent" }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  {{- end }}
  command:
    - archfit
    - audit
    {{- range $.step.words }}
    - {{ . | quote }}
    {{- end }}
  env:
    - name: ARCHFIT_CONFIG
      value: /etc/archfit/archfit.yaml
    - name: HOME
      value: /tmp
    {{- if and $asks .Values.registrySecret }}
    - name: ARCHFIT_AUTHFILE
      value: /etc/archfit/registries/config.json
    {{- end }}
    {{- if and $asks .Values.audit.cacheSecret }}
    - name: ARCHFIT_CACHE_PASSWORD_FILE
      value: /etc/archfit/cache/password
    {{- end }}
  {{- with .Values.audit.resources }}
  resources:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    allowPrivilegeEscalation: false
    readOnlyRootFilesystem: true
    capabilities:
      drop:
        - ALL
  volumeMounts:
    - name: configuration
      mountPath: /etc/archfit
      readOnly: true
    - name: audit
      mountPath: /audit
    - name: tmp
      mountPath: /tmp
    {{- if and $asks .Values.registrySecret }}
    - name: registries
      mountPath: /etc/archfit/registries
      readOnly: true
    {{- end }}
    {{- if and $asks .Values.audit.cacheSecret }}
    - name: cache
      mountPath: /etc/archfit/cache
      readOnly: true
    {{- end }}
  {{- end }}
{{- end -}}
