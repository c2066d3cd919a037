# archfit: completion for fish, written by `archfit completion fish`.
function __archfit_is
    set -l words (commandline -opc)
    set -e words[1]
    string match -q -- "$argv[1] *" "$words "
end
function __archfit_words
    count (commandline -opc)
end
complete -c archfit -n 'test (__archfit_words) = 1' -a transform -d 'Adds to rendered manifests what each pod needs.'
complete -c archfit -n '__archfit_is transform' -l diff
complete -c archfit -n '__archfit_is transform' -l in-place
complete -c archfit -n '__archfit_is transform' -s o -r -F
complete -c archfit -n '__archfit_is transform' -l output -r -F
complete -c archfit -n '__archfit_is transform' -l helm -x
complete -c archfit -n '__archfit_is transform' -l kustomize -x -a '(__fish_complete_directories)'
complete -c archfit -n '__archfit_is transform' -l cluster-architectures -x
complete -c archfit -n '__archfit_is transform' -l tolerate -x
complete -c archfit -n '__archfit_is transform' -l affinity -x -a 'needed always never'
complete -c archfit -n '__archfit_is transform' -l prefer -x
complete -c archfit -n '__archfit_is transform' -l on-absent -x -a 'fail leave'
complete -c archfit -n '__archfit_is transform' -l on-unknown -x -a 'fail assume leave'
complete -c archfit -n '__archfit_is transform' -l assume -x
complete -c archfit -n '__archfit_is transform' -l on-conflict -x -a 'fail leave'
complete -c archfit -n '__archfit_is transform' -l immutable -x -a 'needed full'
complete -c archfit -n '__archfit_is transform' -l hooks -x -a 'immutable recreated'
complete -c archfit -n '__archfit_is transform' -l custom-resources -x -a 'all read seen none'
complete -c archfit -n '__archfit_is transform' -l daemon-sets -x -a 'warn fail'
complete -c archfit -n '__archfit_is transform' -l strict
complete -c archfit -n '__archfit_is transform' -l no-strict
complete -c archfit -n '__archfit_is transform' -l on-blank -x -a 'pass comment fail'
complete -c archfit -n '__archfit_is transform' -l image-platforms -x
complete -c archfit -n '__archfit_is transform' -l exclude -x
complete -c archfit -n '__archfit_is transform' -l unlabelled-nodes -x
complete -c archfit -n '__archfit_is transform' -l lock-file -r -F
complete -c archfit -n '__archfit_is transform' -l locked
complete -c archfit -n '__archfit_is transform' -l no-locked
complete -c archfit -n '__archfit_is transform' -l stamp
complete -c archfit -n '__archfit_is transform' -l no-stamp
complete -c archfit -n '__archfit_is transform' -l mirror -x
complete -c archfit -n '__archfit_is transform' -l hosts-dir -x -a '(__fish_complete_directories)'
complete -c archfit -n '__archfit_is transform' -l registries-conf -r -F
complete -c archfit -n '__archfit_is transform' -l ca-file -r -F
complete -c archfit -n '__archfit_is transform' -l allow-host -x
complete -c archfit -n '__archfit_is transform' -l deny-host -x
complete -c archfit -n '__archfit_is transform' -l requests-per-second -x
complete -c archfit -n '__archfit_is transform' -l cache -r -F
complete -c archfit -n '__archfit_is transform' -l cache-password-file -r -F
complete -c archfit -n '__archfit_is transform' -l cache-ca-file -r -F
complete -c archfit -n '__archfit_is transform' -l cache-ttl -x
complete -c archfit -n '__archfit_is transform' -l max-stale -x
complete -c archfit -n '__archfit_is transform' -l no-cache
complete -c archfit -n '__archfit_is transform' -l offline
complete -c archfit -n '__archfit_is transform' -l no-offline
complete -c archfit -n '__archfit_is transform' -l timeout -x
complete -c archfit -n '__archfit_is transform' -l authfile -r -F
complete -c archfit -n '__archfit_is transform' -l pull-secrets
complete -c archfit -n '__archfit_is transform' -l no-pull-secrets
complete -c archfit -n '__archfit_is transform' -l report -r -F
complete -c archfit -n '__archfit_is transform' -l quiet
complete -c archfit -n '__archfit_is transform' -s q
complete -c archfit -n '__archfit_is transform' -l verbose
complete -c archfit -n '__archfit_is transform' -s v
complete -c archfit -n '__archfit_is transform' -l color -x -a 'auto always never'
complete -c archfit -n '__archfit_is transform' -l config -r -F
complete -c archfit -n '__archfit_is transform' -s h
complete -c archfit -n '__archfit_is transform' -l help
complete -c archfit -n '__archfit_is transform' -l help-all
complete -c archfit -n '__archfit_is transform' -s V
complete -c archfit -n '__archfit_is transform' -l version
complete -c archfit -n 'test (__archfit_words) = 1' -a check -d 'Says what archfit would change, or which images lack a platform.'
complete -c archfit -n '__archfit_is check' -l helm -x
complete -c archfit -n '__archfit_is check' -l kustomize -x -a '(__fish_complete_directories)'
complete -c archfit -n '__archfit_is check' -l require -x
complete -c archfit -n '__archfit_is check' -l allow-unknown
complete -c archfit -n '__archfit_is check' -l newer-tags
complete -c archfit -n '__archfit_is check' -l format -x -a 'text json github gitlab sarif markdown junit kustomize renovate'
complete -c archfit -n '__archfit_is check' -l source-root -x -a '(__fish_complete_directories)'
complete -c archfit -n '__archfit_is check' -l cluster-architectures -x
complete -c archfit -n '__archfit_is check' -l tolerate -x
complete -c archfit -n '__archfit_is check' -l affinity -x -a 'needed always never'
complete -c archfit -n '__archfit_is check' -l prefer -x
complete -c archfit -n '__archfit_is check' -l on-absent -x -a 'fail leave'
complete -c archfit -n '__archfit_is check' -l on-unknown -x -a 'fail assume leave'
complete -c archfit -n '__archfit_is check' -l assume -x
complete -c archfit -n '__archfit_is check' -l on-conflict -x -a 'fail leave'
complete -c archfit -n '__archfit_is check' -l immutable -x -a 'needed full'
complete -c archfit -n '__archfit_is check' -l hooks -x -a 'immutable recreated'
complete -c archfit -n '__archfit_is check' -l custom-resources -x -a 'all read seen none'
complete -c archfit -n '__archfit_is check' -l daemon-sets -x -a 'warn fail'
complete -c archfit -n '__archfit_is check' -l strict
complete -c archfit -n '__archfit_is check' -l no-strict
complete -c archfit -n '__archfit_is check' -l on-blank -x -a 'pass comment fail'
complete -c archfit -n '__archfit_is check' -l image-platforms -x
complete -c archfit -n '__archfit_is check' -l exclude -x
complete -c archfit -n '__archfit_is check' -l unlabelled-nodes -x
complete -c archfit -n '__archfit_is check' -l lock-file -r -F
complete -c archfit -n '__archfit_is check' -l locked
complete -c archfit -n '__archfit_is check' -l no-locked
complete -c archfit -n '__archfit_is check' -l stamp
complete -c archfit -n '__archfit_is check' -l no-stamp
complete -c archfit -n '__archfit_is check' -l mirror -x
complete -c archfit -n '__archfit_is check' -l hosts-dir -x -a '(__fish_complete_directories)'
complete -c archfit -n '__archfit_is check' -l registries-conf -r -F
complete -c archfit -n '__archfit_is check' -l ca-file -r -F
complete -c archfit -n '__archfit_is check' -l allow-host -x
complete -c archfit -n '__archfit_is check' -l deny-host -x
complete -c archfit -n '__archfit_is check' -l requests-per-second -x
complete -c archfit -n '__archfit_is check' -l cache -r -F
complete -c archfit -n '__archfit_is check' -l cache-password-file -r -F
complete -c archfit -n '__archfit_is check' -l cache-ca-file -r -F
complete -c archfit -n '__archfit_is check' -l cache-ttl -x
complete -c archfit -n '__archfit_is check' -l max-stale -x
complete -c archfit -n '__archfit_is check' -l no-cache
complete -c archfit -n '__archfit_is check' -l offline
complete -c archfit -n '__archfit_is check' -l no-offline
complete -c archfit -n '__archfit_is check' -l timeout -x
complete -c archfit -n '__archfit_is check' -l authfile -r -F
complete -c archfit -n '__archfit_is check' -l pull-secrets
complete -c archfit -n '__archfit_is check' -l no-pull-secrets
complete -c archfit -n '__archfit_is check' -l report -r -F
complete -c archfit -n '__archfit_is check' -l quiet
complete -c archfit -n '__archfit_is check' -s q
complete -c archfit -n '__archfit_is check' -l verbose
complete -c archfit -n '__archfit_is check' -s v
complete -c archfit -n '__archfit_is check' -l color -x -a 'auto always never'
complete -c archfit -n '__archfit_is check' -l config -r -F
complete -c archfit -n '__archfit_is check' -s h
complete -c archfit -n '__archfit_is check' -l help
complete -c archfit -n '__archfit_is check' -l help-all
complete -c archfit -n '__archfit_is check' -s V
complete -c archfit -n '__archfit_is check' -l version
complete -c archfit -n 'test (__archfit_words) = 1' -a explain -d 'Says why each pod is placed as it is, image by image.'
complete -c archfit -n '__archfit_is explain' -l helm -x
complete -c archfit -n '__archfit_is explain' -l kustomize -x -a '(__fish_complete_directories)'
complete -c archfit -n '__archfit_is explain' -l only -x
complete -c archfit -n '__archfit_is explain' -l format -x -a 'text json'
complete -c archfit -n '__archfit_is explain' -l cluster-architectures -x
complete -c archfit -n '__archfit_is explain' -l tolerate -x
complete -c archfit -n '__archfit_is explain' -l affinity -x -a 'needed always never'
complete -c archfit -n '__archfit_is explain' -l prefer -x
complete -c archfit -n '__archfit_is explain' -l on-absent -x -a 'fail leave'
complete -c archfit -n '__archfit_is explain' -l on-unknown -x -a 'fail assume leave'
complete -c archfit -n '__archfit_is explain' -l assume -x
complete -c archfit -n '__archfit_is explain' -l on-conflict -x -a 'fail leave'
complete -c archfit -n '__archfit_is explain' -l immutable -x -a 'needed full'
complete -c archfit -n '__archfit_is explain' -l hooks -x -a 'immutable recreated'
complete -c archfit -n '__archfit_is explain' -l custom-resources -x -a 'all read seen none'
complete -c archfit -n '__archfit_is explain' -l daemon-sets -x -a 'warn fail'
complete -c archfit -n '__archfit_is explain' -l strict
complete -c archfit -n '__archfit_is explain' -l no-strict
complete -c archfit -n '__archfit_is explain' -l on-blank -x -a 'pass comment fail'
complete -c archfit -n '__archfit_is explain' -l image-platforms -x
complete -c archfit -n '__archfit_is explain' -l exclude -x
complete -c archfit -n '__archfit_is explain' -l unlabelled-nodes -x
complete -c archfit -n '__archfit_is explain' -l lock-file -r -F
complete -c archfit -n '__archfit_is explain' -l locked
complete -c archfit -n '__archfit_is explain' -l no-locked
complete -c archfit -n '__archfit_is explain' -l stamp
complete -c archfit -n '__archfit_is explain' -l no-stamp
complete -c archfit -n '__archfit_is explain' -l mirror -x
complete -c archfit -n '__archfit_is explain' -l hosts-dir -x -a '(__fish_complete_directories)'
complete -c archfit -n '__archfit_is explain' -l registries-conf -r -F
complete -c archfit -n '__archfit_is explain' -l ca-file -r -F
complete -c archfit -n '__archfit_is explain' -l allow-host -x
complete -c archfit -n '__archfit_is explain' -l deny-host -x
complete -c archfit -n '__archfit_is explain' -l requests-per-second -x
complete -c archfit -n '__archfit_is explain' -l cache -r -F
complete -c archfit -n '__archfit_is explain' -l cache-password-file -r -F
complete -c archfit -n '__archfit_is explain' -l cache-ca-file -r -F
complete -c archfit -n '__archfit_is explain' -l cache-ttl -x
complete -c archfit -n '__archfit_is explain' -l max-stale -x
complete -c archfit -n '__archfit_is explain' -l no-cache
complete -c archfit -n '__archfit_is explain' -l offline
complete -c archfit -n '__archfit_is explain' -l no-offline
complete -c archfit -n '__archfit_is explain' -l timeout -x
complete -c archfit -n '__archfit_is explain' -l authfile -r -F
complete -c archfit -n '__archfit_is explain' -l pull-secrets
complete -c archfit -n '__archfit_is explain' -l no-pull-secrets
complete -c archfit -n '__archfit_is explain' -l report -r -F
complete -c archfit -n '__archfit_is explain' -l quiet
complete -c archfit -n '__archfit_is explain' -s q
complete -c archfit -n '__archfit_is explain' -l verbose
complete -c archfit -n '__archfit_is explain' -s v
complete -c archfit -n '__archfit_is explain' -l color -x -a 'auto always never'
complete -c archfit -n '__archfit_is explain' -l config -r -F
complete -c archfit -n '__archfit_is explain' -s h
complete -c archfit -n '__archfit_is explain' -l help
complete -c archfit -n '__archfit_is explain' -l help-all
complete -c archfit -n '__archfit_is explain' -s V
complete -c archfit -n '__archfit_is explain' -l version
complete -c archfit -n 'test (__archfit_words) = 1' -a patch -d 'Writes the changes as patches, for Flux, Rancher Fleet and others.'
complete -c archfit -n '__archfit_is patch' -l helm -x
complete -c archfit -n '__archfit_is patch' -l kustomize -x -a '(__fish_complete_directories)'
complete -c archfit -n '__archfit_is patch' -l format -x -a 'kustomize flux-helmrelease flux-kustomization fleet sveltos kubevela json'
complete -c archfit -n '__archfit_is patch' -l cluster-architectures -x
complete -c archfit -n '__archfit_is patch' -l tolerate -x
complete -c archfit -n '__archfit_is patch' -l affinity -x -a 'needed always never'
complete -c archfit -n '__archfit_is patch' -l prefer -x
complete -c archfit -n '__archfit_is patch' -l on-absent -x -a 'fail leave'
complete -c archfit -n '__archfit_is patch' -l on-unknown -x -a 'fail assume leave'
complete -c archfit -n '__archfit_is patch' -l assume -x
complete -c archfit -n '__archfit_is patch' -l on-conflict -x -a 'fail leave'
complete -c archfit -n '__archfit_is patch' -l immutable -x -a 'needed full'
complete -c archfit -n '__archfit_is patch' -l hooks -x -a 'immutable recreated'
complete -c archfit -n '__archfit_is patch' -l custom-resources -x -a 'all read seen none'
complete -c archfit -n '__archfit_is patch' -l daemon-sets -x -a 'warn fail'
complete -c archfit -n '__archfit_is patch' -l strict
complete -c archfit -n '__archfit_is patch' -l no-strict
complete -c archfit -n '__archfit_is patch' -l on-blank -x -a 'pass comment fail'
complete -c archfit -n '__archfit_is patch' -l image-platforms -x
complete -c archfit -n '__archfit_is patch' -l exclude -x
complete -c archfit -n '__archfit_is patch' -l unlabelled-nodes -x
complete -c archfit -n '__archfit_is patch' -l lock-file -r -F
complete -c archfit -n '__archfit_is patch' -l locked
complete -c archfit -n '__archfit_is patch' -l no-locked
complete -c archfit -n '__archfit_is patch' -l stamp
complete -c archfit -n '__archfit_is patch' -l no-stamp
complete -c archfit -n '__archfit_is patch' -l mirror -x
complete -c archfit -n '__archfit_is patch' -l hosts-dir -x -a '(__fish_complete_directories)'
complete -c archfit -n '__archfit_is patch' -l registries-conf -r -F
complete -c archfit -n '__archfit_is patch' -l ca-file -r -F
complete -c archfit -n '__archfit_is patch' -l allow-host -x
complete -c archfit -n '__archfit_is patch' -l deny-host -x
complete -c archfit -n '__archfit_is patch' -l requests-per-second -x
complete -c archfit -n '__archfit_is patch' -l cache -r -F
complete -c archfit -n '__archfit_is patch' -l cache-password-file -r -F
complete -c archfit -n '__archfit_is patch' -l cache-ca-file -r -F
complete -c archfit -n '__archfit_is patch' -l cache-ttl -x
complete -c archfit -n '__archfit_is patch' -l max-stale -x
complete -c archfit -n '__archfit_is patch' -l no-cache
complete -c archfit -n '__archfit_is patch' -l offline
complete -c archfit -n '__archfit_is patch' -l no-offline
complete -c archfit -n '__archfit_is patch' -l timeout -x
complete -c archfit -n '__archfit_is patch' -l authfile -r -F
complete -c archfit -n '__archfit_is patch' -l pull-secrets
complete -c archfit -n '__archfit_is patch' -l no-pull-secrets
complete -c archfit -n '__archfit_is patch' -l report -r -F
complete -c archfit -n '__archfit_is patch' -l quiet
complete -c archfit -n '__archfit_is patch' -s q
complete -c archfit -n '__archfit_is patch' -l verbose
complete -c archfit -n '__archfit_is patch' -s v
complete -c archfit -n '__archfit_is patch' -l color -x -a 'auto always never'
complete -c archfit -n '__archfit_is patch' -l config -r -F
complete -c archfit -n '__archfit_is patch' -s h
complete -c archfit -n '__archfit_is patch' -l help
complete -c archfit -n '__archfit_is patch' -l help-all
complete -c archfit -n '__archfit_is patch' -s V
complete -c archfit -n '__archfit_is patch' -l version
complete -c archfit -n 'test (__archfit_words) = 1' -a policy -d 'Writes a policy that places pods as they enter a cluster.'
complete -c archfit -n '__archfit_is policy' -l carrier -x -a 'literal crd'
complete -c archfit -n '__archfit_is policy' -l namespace-selector -x
complete -c archfit -n '__archfit_is policy' -l api-version -x -a 'v1 v1beta1'
complete -c archfit -n '__archfit_is policy' -l name -x
complete -c archfit -n '__archfit_is policy' -l deny
complete -c archfit -n '__archfit_is policy' -l late-changes -x -a 'warn deny'
complete -c archfit -n '__archfit_is policy' -l max-age -x
complete -c archfit -n '__archfit_is policy' -l stats
complete -c archfit -n '__archfit_is policy' -l check
complete -c archfit -n '__archfit_is policy' -l live
complete -c archfit -n '__archfit_is policy' -l apply
complete -c archfit -n '__archfit_is policy' -l context -x
complete -c archfit -n '__archfit_is policy' -l kubeconfig -r -F
complete -c archfit -n '__archfit_is policy' -l json
complete -c archfit -n '__archfit_is policy' -l cluster-architectures -x
complete -c archfit -n '__archfit_is policy' -l tolerate -x
complete -c archfit -n '__archfit_is policy' -l affinity -x -a 'needed always never'
complete -c archfit -n '__archfit_is policy' -l prefer -x
complete -c archfit -n '__archfit_is policy' -l on-absent -x -a 'fail leave'
complete -c archfit -n '__archfit_is policy' -l on-unknown -x -a 'fail assume leave'
complete -c archfit -n '__archfit_is policy' -l assume -x
complete -c archfit -n '__archfit_is policy' -l custom-resources -x -a 'all read seen none'
complete -c archfit -n '__archfit_is policy' -l strict
complete -c archfit -n '__archfit_is policy' -l no-strict
complete -c archfit -n '__archfit_is policy' -l on-blank -x -a 'pass comment fail'
complete -c archfit -n '__archfit_is policy' -l image-platforms -x
complete -c archfit -n '__archfit_is policy' -l exclude -x
complete -c archfit -n '__archfit_is policy' -l unlabelled-nodes -x
complete -c archfit -n '__archfit_is policy' -l lock-file -r -F
complete -c archfit -n '__archfit_is policy' -l locked
complete -c archfit -n '__archfit_is policy' -l no-locked
complete -c archfit -n '__archfit_is policy' -l mirror -x
complete -c archfit -n '__archfit_is policy' -l hosts-dir -x -a '(__fish_complete_directories)'
complete -c archfit -n '__archfit_is policy' -l registries-conf -r -F
complete -c archfit -n '__archfit_is policy' -l ca-file -r -F
complete -c archfit -n '__archfit_is policy' -l allow-host -x
complete -c archfit -n '__archfit_is policy' -l deny-host -x
complete -c archfit -n '__archfit_is policy' -l requests-per-second -x
complete -c archfit -n '__archfit_is policy' -l cache -r -F
complete -c archfit -n '__archfit_is policy' -l cache-password-file -r -F
complete -c archfit -n '__archfit_is policy' -l cache-ca-file -r -F
complete -c archfit -n '__archfit_is policy' -l cache-ttl -x
complete -c archfit -n '__archfit_is policy' -l max-stale -x
complete -c archfit -n '__archfit_is policy' -l no-cache
complete -c archfit -n '__archfit_is policy' -l offline
complete -c archfit -n '__archfit_is policy' -l no-offline
complete -c archfit -n '__archfit_is policy' -l timeout -x
complete -c archfit -n '__archfit_is policy' -l authfile -r -F
complete -c archfit -n '__archfit_is policy' -l quiet
complete -c archfit -n '__archfit_is policy' -s q
complete -c archfit -n '__archfit_is policy' -l color -x -a 'auto always never'
complete -c archfit -n '__archfit_is policy' -l config -r -F
complete -c archfit -n '__archfit_is policy' -s h
complete -c archfit -n '__archfit_is policy' -l help
complete -c archfit -n '__archfit_is policy' -l help-all
complete -c archfit -n '__archfit_is policy' -s V
complete -c archfit -n '__archfit_is policy' -l version
complete -c archfit -n 'test (__archfit_words) = 1' -a audit -d 'Reports what runs: where its images could run, and what keeps it off.'
complete -c archfit -n '__archfit_is audit' -l helm -x
complete -c archfit -n '__archfit_is audit' -l kustomize -x -a '(__fish_complete_directories)'
complete -c archfit -n '__archfit_is audit' -l live
complete -c archfit -n '__archfit_is audit' -l context -x
complete -c archfit -n '__archfit_is audit' -l kubeconfig -r -F
complete -c archfit -n '__archfit_is audit' -s n -x
complete -c archfit -n '__archfit_is audit' -l namespace -x
complete -c archfit -n '__archfit_is audit' -l cluster -x
complete -c archfit -n '__archfit_is audit' -l require -x
complete -c archfit -n '__archfit_is audit' -l min-ready -x
complete -c archfit -n '__archfit_is audit' -l allow-unknown
complete -c archfit -n '__archfit_is audit' -l newer-tags
complete -c archfit -n '__archfit_is audit' -l assume-cpu -x
complete -c archfit -n '__archfit_is audit' -l price -x
complete -c archfit -n '__archfit_is audit' -l currency -x
complete -c archfit -n '__archfit_is audit' -l prices -r -F
complete -c archfit -n '__archfit_is audit' -l format -x -a 'text json csv markdown html openmetrics rules kustomize renovate'
complete -c archfit -n '__archfit_is audit' -l by -x
complete -c archfit -n '__archfit_is audit' -l wave -x
complete -c archfit -n '__archfit_is audit' -l own -x
complete -c archfit -n '__archfit_is audit' -l all
complete -c archfit -n '__archfit_is audit' -s o -r -F
complete -c archfit -n '__archfit_is audit' -l output -r -F
complete -c archfit -n '__archfit_is audit' -l merge -r -F
complete -c archfit -n '__archfit_is audit' -l compare -r -F
complete -c archfit -n '__archfit_is audit' -l fail-on-regression
complete -c archfit -n '__archfit_is audit' -l history -r -F
complete -c archfit -n '__archfit_is audit' -l shards -x
complete -c archfit -n '__archfit_is audit' -l shard -x
complete -c archfit -n '__archfit_is audit' -l image-platforms -x
complete -c archfit -n '__archfit_is audit' -l lock-file -r -F
complete -c archfit -n '__archfit_is audit' -l locked
complete -c archfit -n '__archfit_is audit' -l no-locked
complete -c archfit -n '__archfit_is audit' -l mirror -x
complete -c archfit -n '__archfit_is audit' -l hosts-dir -x -a '(__fish_complete_directories)'
complete -c archfit -n '__archfit_is audit' -l registries-conf -r -F
complete -c archfit -n '__archfit_is audit' -l ca-file -r -F
complete -c archfit -n '__archfit_is audit' -l allow-host -x
complete -c archfit -n '__archfit_is audit' -l deny-host -x
complete -c archfit -n '__archfit_is audit' -l requests-per-second -x
complete -c archfit -n '__archfit_is audit' -l cache -r -F
complete -c archfit -n '__archfit_is audit' -l cache-password-file -r -F
complete -c archfit -n '__archfit_is audit' -l cache-ca-file -r -F
complete -c archfit -n '__archfit_is audit' -l cache-ttl -x
complete -c archfit -n '__archfit_is audit' -l max-stale -x
complete -c archfit -n '__archfit_is audit' -l no-cache
complete -c archfit -n '__archfit_is audit' -l offline
complete -c archfit -n '__archfit_is audit' -l no-offline
complete -c archfit -n '__archfit_is audit' -l timeout -x
complete -c archfit -n '__archfit_is audit' -l authfile -r -F
complete -c archfit -n '__archfit_is audit' -l quiet
complete -c archfit -n '__archfit_is audit' -s q
complete -c archfit -n '__archfit_is audit' -l color -x -a 'auto always never'
complete -c archfit -n '__archfit_is audit' -l config -r -F
complete -c archfit -n '__archfit_is audit' -s h
complete -c archfit -n '__archfit_is audit' -l help
complete -c archfit -n '__archfit_is audit' -l help-all
complete -c archfit -n '__archfit_is audit' -s V
complete -c archfit -n '__archfit_is audit' -l version
complete -c archfit -n 'test (__archfit_words) = 1' -a lock -d 'Writes a lock file, for runs that ask no registry.'
complete -c archfit -n '__archfit_is lock' -l helm -x
complete -c archfit -n '__archfit_is lock' -l kustomize -x -a '(__fish_complete_directories)'
complete -c archfit -n '__archfit_is lock' -l from-audit -r -F
complete -c archfit -n '__archfit_is lock' -l add-missing
complete -c archfit -n '__archfit_is lock' -l update -x
complete -c archfit -n '__archfit_is lock' -l prune
complete -c archfit -n '__archfit_is lock' -l check
complete -c archfit -n '__archfit_is lock' -l json
complete -c archfit -n '__archfit_is lock' -l lock-file -r -F
complete -c archfit -n '__archfit_is lock' -l image-platforms -x
complete -c archfit -n '__archfit_is lock' -l custom-resources -x -a 'all read seen none'
complete -c archfit -n '__archfit_is lock' -l exclude -x
complete -c archfit -n '__archfit_is lock' -l unlabelled-nodes -x
complete -c archfit -n '__archfit_is lock' -l on-blank -x -a 'pass comment fail'
complete -c archfit -n '__archfit_is lock' -l mirror -x
complete -c archfit -n '__archfit_is lock' -l hosts-dir -x -a '(__fish_complete_directories)'
complete -c archfit -n '__archfit_is lock' -l registries-conf -r -F
complete -c archfit -n '__archfit_is lock' -l ca-file -r -F
complete -c archfit -n '__archfit_is lock' -l allow-host -x
complete -c archfit -n '__archfit_is lock' -l deny-host -x
complete -c archfit -n '__archfit_is lock' -l requests-per-second -x
complete -c archfit -n '__archfit_is lock' -l cache -r -F
complete -c archfit -n '__archfit_is lock' -l cache-password-file -r -F
complete -c archfit -n '__archfit_is lock' -l cache-ca-file -r -F
complete -c archfit -n '__archfit_is lock' -l no-cache
complete -c archfit -n '__archfit_is lock' -l timeout -x
complete -c archfit -n '__archfit_is lock' -l authfile -r -F
complete -c archfit -n '__archfit_is lock' -l quiet
complete -c archfit -n '__archfit_is lock' -s q
complete -c archfit -n '__archfit_is lock' -l color -x -a 'auto always never'
complete -c archfit -n '__archfit_is lock' -l config -r -F
complete -c archfit -n '__archfit_is lock' -s h
complete -c archfit -n '__archfit_is lock' -l help
complete -c archfit -n '__archfit_is lock' -l help-all
complete -c archfit -n '__archfit_is lock' -s V
complete -c archfit -n '__archfit_is lock' -l version
complete -c archfit -n 'test (__archfit_words) = 1' -a inspect -d 'Shows what registries have for images, and where they run.'
complete -c archfit -n '__archfit_is inspect' -f
complete -c archfit -n '__archfit_is inspect' -l json
complete -c archfit -n '__archfit_is inspect' -l raw
complete -c archfit -n '__archfit_is inspect' -l newer-tags
complete -c archfit -n '__archfit_is inspect' -l image-platforms -x
complete -c archfit -n '__archfit_is inspect' -l mirror -x
complete -c archfit -n '__archfit_is inspect' -l hosts-dir -x -a '(__fish_complete_directories)'
complete -c archfit -n '__archfit_is inspect' -l registries-conf -r -F
complete -c archfit -n '__archfit_is inspect' -l ca-file -r -F
complete -c archfit -n '__archfit_is inspect' -l allow-host -x
complete -c archfit -n '__archfit_is inspect' -l deny-host -x
complete -c archfit -n '__archfit_is inspect' -l requests-per-second -x
complete -c archfit -n '__archfit_is inspect' -l cache -r -F
complete -c archfit -n '__archfit_is inspect' -l cache-password-file -r -F
complete -c archfit -n '__archfit_is inspect' -l cache-ca-file -r -F
complete -c archfit -n '__archfit_is inspect' -l no-cache
complete -c archfit -n '__archfit_is inspect' -l offline
complete -c archfit -n '__archfit_is inspect' -l no-offline
complete -c archfit -n '__archfit_is inspect' -l timeout -x
complete -c archfit -n '__archfit_is inspect' -l authfile -r -F
complete -c archfit -n '__archfit_is inspect' -l quiet
complete -c archfit -n '__archfit_is inspect' -s q
complete -c archfit -n '__archfit_is inspect' -l color -x -a 'auto always never'
complete -c archfit -n '__archfit_is inspect' -l config -r -F
complete -c archfit -n '__archfit_is inspect' -s h
complete -c archfit -n '__archfit_is inspect' -l help
complete -c archfit -n '__archfit_is inspect' -l help-all
complete -c archfit -n '__archfit_is inspect' -s V
complete -c archfit -n '__archfit_is inspect' -l version
complete -c archfit -n 'test (__archfit_words) = 1' -a login-check -d 'Says which credential a registry gets, and whether it accepts it.'
complete -c archfit -n '__archfit_is login-check' -f
complete -c archfit -n '__archfit_is login-check' -l json
complete -c archfit -n '__archfit_is login-check' -l mirror -x
complete -c archfit -n '__archfit_is login-check' -l hosts-dir -x -a '(__fish_complete_directories)'
complete -c archfit -n '__archfit_is login-check' -l registries-conf -r -F
complete -c archfit -n '__archfit_is login-check' -l ca-file -r -F
complete -c archfit -n '__archfit_is login-check' -l allow-host -x
complete -c archfit -n '__archfit_is login-check' -l deny-host -x
complete -c archfit -n '__archfit_is login-check' -l requests-per-second -x
complete -c archfit -n '__archfit_is login-check' -l offline
complete -c archfit -n '__archfit_is login-check' -l no-offline
complete -c archfit -n '__archfit_is login-check' -l timeout -x
complete -c archfit -n '__archfit_is login-check' -l authfile -r -F
complete -c archfit -n '__archfit_is login-check' -l quiet
complete -c archfit -n '__archfit_is login-check' -s q
complete -c archfit -n '__archfit_is login-check' -l color -x -a 'auto always never'
complete -c archfit -n '__archfit_is login-check' -l config -r -F
complete -c archfit -n '__archfit_is login-check' -s h
complete -c archfit -n '__archfit_is login-check' -l help
complete -c archfit -n '__archfit_is login-check' -l help-all
complete -c archfit -n '__archfit_is login-check' -s V
complete -c archfit -n '__archfit_is login-check' -l version
complete -c archfit -n 'test (__archfit_words) = 1' -a serve -d 'Runs the admission webhook, which places pods as they are created.'
complete -c archfit -n '__archfit_is serve' -f
complete -c archfit -n '__archfit_is serve' -l listen -x
complete -c archfit -n '__archfit_is serve' -l probe-listen -x
complete -c archfit -n '__archfit_is serve' -l tls-dir -x -a '(__fish_complete_directories)'
complete -c archfit -n '__archfit_is serve' -l tls-cert -r -F
complete -c archfit -n '__archfit_is serve' -l tls-key -r -F
complete -c archfit -n '__archfit_is serve' -l client-ca -r -F
complete -c archfit -n '__archfit_is serve' -l insecure-http
complete -c archfit -n '__archfit_is serve' -l pull-secret -x
complete -c archfit -n '__archfit_is serve' -l memory-limit -x
complete -c archfit -n '__archfit_is serve' -l drain-delay -x
complete -c archfit -n '__archfit_is serve' -l log-level -x -a 'debug info warning error'
complete -c archfit -n '__archfit_is serve' -l cluster-architectures -x
complete -c archfit -n '__archfit_is serve' -l tolerate -x
complete -c archfit -n '__archfit_is serve' -l affinity -x -a 'needed always never'
complete -c archfit -n '__archfit_is serve' -l prefer -x
complete -c archfit -n '__archfit_is serve' -l on-absent -x -a 'fail leave'
complete -c archfit -n '__archfit_is serve' -l on-unknown -x -a 'fail assume leave'
complete -c archfit -n '__archfit_is serve' -l assume -x
complete -c archfit -n '__archfit_is serve' -l on-conflict -x -a 'fail leave'
complete -c archfit -n '__archfit_is serve' -l strict
complete -c archfit -n '__archfit_is serve' -l no-strict
complete -c archfit -n '__archfit_is serve' -l image-platforms -x
complete -c archfit -n '__archfit_is serve' -l exclude -x
complete -c archfit -n '__archfit_is serve' -l unlabelled-nodes -x
complete -c archfit -n '__archfit_is serve' -l lock-file -r -F
complete -c archfit -n '__archfit_is serve' -l locked
complete -c archfit -n '__archfit_is serve' -l no-locked
complete -c archfit -n '__archfit_is serve' -l mirror -x
complete -c archfit -n '__archfit_is serve' -l hosts-dir -x -a '(__fish_complete_directories)'
complete -c archfit -n '__archfit_is serve' -l registries-conf -r -F
complete -c archfit -n '__archfit_is serve' -l ca-file -r -F
complete -c archfit -n '__archfit_is serve' -l allow-host -x
complete -c archfit -n '__archfit_is serve' -l deny-host -x
complete -c archfit -n '__archfit_is serve' -l requests-per-second -x
complete -c archfit -n '__archfit_is serve' -l cache -r -F
complete -c archfit -n '__archfit_is serve' -l cache-password-file -r -F
complete -c archfit -n '__archfit_is serve' -l cache-ca-file -r -F
complete -c archfit -n '__archfit_is serve' -l cache-ttl -x
complete -c archfit -n '__archfit_is serve' -l max-stale -x
complete -c archfit -n '__archfit_is serve' -l no-cache
complete -c archfit -n '__archfit_is serve' -l offline
complete -c archfit -n '__archfit_is serve' -l no-offline
complete -c archfit -n '__archfit_is serve' -l timeout -x
complete -c archfit -n '__archfit_is serve' -l authfile -r -F
complete -c archfit -n '__archfit_is serve' -l quiet
complete -c archfit -n '__archfit_is serve' -s q
complete -c archfit -n '__archfit_is serve' -l color -x -a 'auto always never'
complete -c archfit -n '__archfit_is serve' -l config -r -F
complete -c archfit -n '__archfit_is serve' -s h
complete -c archfit -n '__archfit_is serve' -l help
complete -c archfit -n '__archfit_is serve' -l help-all
complete -c archfit -n '__archfit_is serve' -s V
complete -c archfit -n '__archfit_is serve' -l version
complete -c archfit -n 'test (__archfit_words) = 1' -a helm -d 'Does what transform does, with defaults for Helm; Helm 4 starts it.'
complete -c archfit -n '__archfit_is helm' -f
complete -c archfit -n '__archfit_is helm' -l cluster-architectures -x
complete -c archfit -n '__archfit_is helm' -l tolerate -x
complete -c archfit -n '__archfit_is helm' -l affinity -x -a 'needed always never'
complete -c archfit -n '__archfit_is helm' -l prefer -x
complete -c archfit -n '__archfit_is helm' -l on-absent -x -a 'fail leave'
complete -c archfit -n '__archfit_is helm' -l on-unknown -x -a 'fail assume leave'
complete -c archfit -n '__archfit_is helm' -l assume -x
complete -c archfit -n '__archfit_is helm' -l on-conflict -x -a 'fail leave'
complete -c archfit -n '__archfit_is helm' -l immutable -x -a 'needed full'
complete -c archfit -n '__archfit_is helm' -l hooks -x -a 'immutable recreated'
complete -c archfit -n '__archfit_is helm' -l custom-resources -x -a 'all read seen none'
complete -c archfit -n '__archfit_is helm' -l daemon-sets -x -a 'warn fail'
complete -c archfit -n '__archfit_is helm' -l strict
complete -c archfit -n '__archfit_is helm' -l no-strict
complete -c archfit -n '__archfit_is helm' -l on-blank -x -a 'pass comment fail'
complete -c archfit -n '__archfit_is helm' -l image-platforms -x
complete -c archfit -n '__archfit_is helm' -l exclude -x
complete -c archfit -n '__archfit_is helm' -l unlabelled-nodes -x
complete -c archfit -n '__archfit_is helm' -l lock-file -r -F
complete -c archfit -n '__archfit_is helm' -l locked
complete -c archfit -n '__archfit_is helm' -l no-locked
complete -c archfit -n '__archfit_is helm' -l stamp
complete -c archfit -n '__archfit_is helm' -l no-stamp
complete -c archfit -n '__archfit_is helm' -l mirror -x
complete -c archfit -n '__archfit_is helm' -l hosts-dir -x -a '(__fish_complete_directories)'
complete -c archfit -n '__archfit_is helm' -l registries-conf -r -F
complete -c archfit -n '__archfit_is helm' -l ca-file -r -F
complete -c archfit -n '__archfit_is helm' -l allow-host -x
complete -c archfit -n '__archfit_is helm' -l deny-host -x
complete -c archfit -n '__archfit_is helm' -l requests-per-second -x
complete -c archfit -n '__archfit_is helm' -l cache -r -F
complete -c archfit -n '__archfit_is helm' -l cache-password-file -r -F
complete -c archfit -n '__archfit_is helm' -l cache-ca-file -r -F
complete -c archfit -n '__archfit_is helm' -l cache-ttl -x
complete -c archfit -n '__archfit_is helm' -l max-stale -x
complete -c archfit -n '__archfit_is helm' -l no-cache
complete -c archfit -n '__archfit_is helm' -l offline
complete -c archfit -n '__archfit_is helm' -l no-offline
complete -c archfit -n '__archfit_is helm' -l timeout -x
complete -c archfit -n '__archfit_is helm' -l authfile -r -F
complete -c archfit -n '__archfit_is helm' -l pull-secrets
complete -c archfit -n '__archfit_is helm' -l no-pull-secrets
complete -c archfit -n '__archfit_is helm' -l report -r -F
complete -c archfit -n '__archfit_is helm' -l quiet
complete -c archfit -n '__archfit_is helm' -s q
complete -c archfit -n '__archfit_is helm' -l verbose
complete -c archfit -n '__archfit_is helm' -s v
complete -c archfit -n '__archfit_is helm' -l color -x -a 'auto always never'
complete -c archfit -n '__archfit_is helm' -l config -r -F
complete -c archfit -n '__archfit_is helm' -s h
complete -c archfit -n '__archfit_is helm' -l help
complete -c archfit -n '__archfit_is helm' -l help-all
complete -c archfit -n '__archfit_is helm' -s V
complete -c archfit -n '__archfit_is helm' -l version
complete -c archfit -n 'test (__archfit_words) = 1' -a argocd -d 'Renders an Argo CD application; Argo CD starts it.'
complete -c archfit -n '__archfit_is argocd; and test (__archfit_words) = 2' -f -a generate
complete -c archfit -n '__archfit_is argocd; and test (__archfit_words) = 2' -f -a parameters
complete -c archfit -n '__archfit_is argocd; and test (__archfit_words) = 2' -f -a discover
complete -c archfit -n '__archfit_is argocd' -f
complete -c archfit -n '__archfit_is argocd' -l helm -r -F
complete -c archfit -n '__archfit_is argocd' -l helm-option -x
complete -c archfit -n '__archfit_is argocd' -l helm-dependencies
complete -c archfit -n '__archfit_is argocd' -l kustomize -r -F
complete -c archfit -n '__archfit_is argocd' -l kustomize-option -x
complete -c archfit -n '__archfit_is argocd' -l cluster-architectures -x
complete -c archfit -n '__archfit_is argocd' -l tolerate -x
complete -c archfit -n '__archfit_is argocd' -l affinity -x -a 'needed always never'
complete -c archfit -n '__archfit_is argocd' -l prefer -x
complete -c archfit -n '__archfit_is argocd' -l on-absent -x -a 'fail leave'
complete -c archfit -n '__archfit_is argocd' -l on-unknown -x -a 'fail assume leave'
complete -c archfit -n '__archfit_is argocd' -l assume -x
complete -c archfit -n '__archfit_is argocd' -l on-conflict -x -a 'fail leave'
complete -c archfit -n '__archfit_is argocd' -l immutable -x -a 'needed full'
complete -c archfit -n '__archfit_is argocd' -l hooks -x -a 'immutable recreated'
complete -c archfit -n '__archfit_is argocd' -l custom-resources -x -a 'all read seen none'
complete -c archfit -n '__archfit_is argocd' -l daemon-sets -x -a 'warn fail'
complete -c archfit -n '__archfit_is argocd' -l strict
complete -c archfit -n '__archfit_is argocd' -l no-strict
complete -c archfit -n '__archfit_is argocd' -l on-blank -x -a 'pass comment fail'
complete -c archfit -n '__archfit_is argocd' -l image-platforms -x
complete -c archfit -n '__archfit_is argocd' -l exclude -x
complete -c archfit -n '__archfit_is argocd' -l unlabelled-nodes -x
complete -c archfit -n '__archfit_is argocd' -l lock-file -r -F
complete -c archfit -n '__archfit_is argocd' -l locked
complete -c archfit -n '__archfit_is argocd' -l no-locked
complete -c archfit -n '__archfit_is argocd' -l stamp
complete -c archfit -n '__archfit_is argocd' -l no-stamp
complete -c archfit -n '__archfit_is argocd' -l mirror -x
complete -c archfit -n '__archfit_is argocd' -l hosts-dir -x -a '(__fish_complete_directories)'
complete -c archfit -n '__archfit_is argocd' -l registries-conf -r -F
complete -c archfit -n '__archfit_is argocd' -l ca-file -r -F
complete -c archfit -n '__archfit_is argocd' -l allow-host -x
complete -c archfit -n '__archfit_is argocd' -l deny-host -x
complete -c archfit -n '__archfit_is argocd' -l requests-per-second -x
complete -c archfit -n '__archfit_is argocd' -l cache -r -F
complete -c archfit -n '__archfit_is argocd' -l cache-password-file -r -F
complete -c archfit -n '__archfit_is argocd' -l cache-ca-file -r -F
complete -c archfit -n '__archfit_is argocd' -l cache-ttl -x
complete -c archfit -n '__archfit_is argocd' -l max-stale -x
complete -c archfit -n '__archfit_is argocd' -l no-cache
complete -c archfit -n '__archfit_is argocd' -l offline
complete -c archfit -n '__archfit_is argocd' -l no-offline
complete -c archfit -n '__archfit_is argocd' -l timeout -x
complete -c archfit -n '__archfit_is argocd' -l authfile -r -F
complete -c archfit -n '__archfit_is argocd' -l pull-secrets
complete -c archfit -n '__archfit_is argocd' -l no-pull-secrets
complete -c archfit -n '__archfit_is argocd' -l report -r -F
complete -c archfit -n '__archfit_is argocd' -l quiet
complete -c archfit -n '__archfit_is argocd' -s q
complete -c archfit -n '__archfit_is argocd' -l verbose
complete -c archfit -n '__archfit_is argocd' -s v
complete -c archfit -n '__archfit_is argocd' -l color -x -a 'auto always never'
complete -c archfit -n '__archfit_is argocd' -l config -r -F
complete -c archfit -n '__archfit_is argocd' -s h
complete -c archfit -n '__archfit_is argocd' -l help
complete -c archfit -n '__archfit_is argocd' -l help-all
complete -c archfit -n '__archfit_is argocd' -s V
complete -c archfit -n '__archfit_is argocd' -l version
complete -c archfit -n 'test (__archfit_words) = 1' -a setup -d 'Connects archfit to another tool.'
complete -c archfit -n '__archfit_is setup' -l quiet
complete -c archfit -n '__archfit_is setup' -s q
complete -c archfit -n '__archfit_is setup' -l color -x -a 'auto always never'
complete -c archfit -n '__archfit_is setup' -s h
complete -c archfit -n '__archfit_is setup' -l help
complete -c archfit -n '__archfit_is setup' -l help-all
complete -c archfit -n '__archfit_is setup' -s V
complete -c archfit -n '__archfit_is setup' -l version
complete -c archfit -n '__archfit_is setup; and test (__archfit_words) = 2' -f -a cluster -d 'Writes a configuration file from nodes and node pools.'
complete -c archfit -n '__archfit_is '"'"'setup cluster'"'"'' -l live
complete -c archfit -n '__archfit_is '"'"'setup cluster'"'"'' -l context -x
complete -c archfit -n '__archfit_is '"'"'setup cluster'"'"'' -l kubeconfig -r -F
complete -c archfit -n '__archfit_is '"'"'setup cluster'"'"'' -l arch-taint -x
complete -c archfit -n '__archfit_is '"'"'setup cluster'"'"'' -s o -r -F
complete -c archfit -n '__archfit_is '"'"'setup cluster'"'"'' -l output -r -F
complete -c archfit -n '__archfit_is '"'"'setup cluster'"'"'' -l quiet
complete -c archfit -n '__archfit_is '"'"'setup cluster'"'"'' -s q
complete -c archfit -n '__archfit_is '"'"'setup cluster'"'"'' -l color -x -a 'auto always never'
complete -c archfit -n '__archfit_is '"'"'setup cluster'"'"'' -s h
complete -c archfit -n '__archfit_is '"'"'setup cluster'"'"'' -l help
complete -c archfit -n '__archfit_is '"'"'setup cluster'"'"'' -l help-all
complete -c archfit -n '__archfit_is '"'"'setup cluster'"'"'' -s V
complete -c archfit -n '__archfit_is '"'"'setup cluster'"'"'' -l version
complete -c archfit -n '__archfit_is setup; and test (__archfit_words) = 2' -f -a autoscaler -d 'Shows what makes an autoscaler try Arm nodes first.'
complete -c archfit -n '__archfit_is '"'"'setup autoscaler'"'"'' -l architecture -x
complete -c archfit -n '__archfit_is '"'"'setup autoscaler'"'"'' -l namespace -x
complete -c archfit -n '__archfit_is '"'"'setup autoscaler'"'"'' -s o -r -F
complete -c archfit -n '__archfit_is '"'"'setup autoscaler'"'"'' -l output -r -F
complete -c archfit -n '__archfit_is '"'"'setup autoscaler'"'"'' -l quiet
complete -c archfit -n '__archfit_is '"'"'setup autoscaler'"'"'' -s q
complete -c archfit -n '__archfit_is '"'"'setup autoscaler'"'"'' -l color -x -a 'auto always never'
complete -c archfit -n '__archfit_is '"'"'setup autoscaler'"'"'' -s h
complete -c archfit -n '__archfit_is '"'"'setup autoscaler'"'"'' -l help
complete -c archfit -n '__archfit_is '"'"'setup autoscaler'"'"'' -l help-all
complete -c archfit -n '__archfit_is '"'"'setup autoscaler'"'"'' -s V
complete -c archfit -n '__archfit_is '"'"'setup autoscaler'"'"'' -l version
complete -c archfit -n '__archfit_is setup; and test (__archfit_words) = 2' -f -a workloads -d 'Writes rows for custom resources from their definitions (CRDs).'
complete -c archfit -n '__archfit_is '"'"'setup workloads'"'"'' -f
complete -c archfit -n '__archfit_is '"'"'setup workloads'"'"'' -l crds -r -F
complete -c archfit -n '__archfit_is '"'"'setup workloads'"'"'' -l include-known
complete -c archfit -n '__archfit_is '"'"'setup workloads'"'"'' -s o -r -F
complete -c archfit -n '__archfit_is '"'"'setup workloads'"'"'' -l output -r -F
complete -c archfit -n '__archfit_is '"'"'setup workloads'"'"'' -l quiet
complete -c archfit -n '__archfit_is '"'"'setup workloads'"'"'' -s q
complete -c archfit -n '__archfit_is '"'"'setup workloads'"'"'' -l color -x -a 'auto always never'
complete -c archfit -n '__archfit_is '"'"'setup workloads'"'"'' -s h
complete -c archfit -n '__archfit_is '"'"'setup workloads'"'"'' -l help
complete -c archfit -n '__archfit_is '"'"'setup workloads'"'"'' -l help-all
complete -c archfit -n '__archfit_is '"'"'setup workloads'"'"'' -s V
complete -c archfit -n '__archfit_is '"'"'setup workloads'"'"'' -l version
complete -c archfit -n '__archfit_is setup; and test (__archfit_words) = 2' -f -a helm -d 'Installs the plugin that Helm 4 needs, or checks it.'
complete -c archfit -n '__archfit_is '"'"'setup helm'"'"'' -f
complete -c archfit -n '__archfit_is '"'"'setup helm'"'"'' -l into -x -a '(__fish_complete_directories)'
complete -c archfit -n '__archfit_is '"'"'setup helm'"'"'' -l check
complete -c archfit -n '__archfit_is '"'"'setup helm'"'"'' -l helm -r -F
complete -c archfit -n '__archfit_is '"'"'setup helm'"'"'' -l quiet
complete -c archfit -n '__archfit_is '"'"'setup helm'"'"'' -s q
complete -c archfit -n '__archfit_is '"'"'setup helm'"'"'' -l color -x -a 'auto always never'
complete -c archfit -n '__archfit_is '"'"'setup helm'"'"'' -s h
complete -c archfit -n '__archfit_is '"'"'setup helm'"'"'' -l help
complete -c archfit -n '__archfit_is '"'"'setup helm'"'"'' -l help-all
complete -c archfit -n '__archfit_is '"'"'setup helm'"'"'' -s V
complete -c archfit -n '__archfit_is '"'"'setup helm'"'"'' -l version
complete -c archfit -n '__archfit_is setup; and test (__archfit_words) = 2' -f -a argocd -d 'Writes the plugin and the sidecar for Argo CD, or checks them.'
complete -c archfit -n '__archfit_is '"'"'setup argocd'"'"'' -f
complete -c archfit -n '__archfit_is '"'"'setup argocd'"'"'' -l into -x -a '(__fish_complete_directories)'
complete -c archfit -n '__archfit_is '"'"'setup argocd'"'"'' -l discover
complete -c archfit -n '__archfit_is '"'"'setup argocd'"'"'' -l image -x
complete -c archfit -n '__archfit_is '"'"'setup argocd'"'"'' -l bundle-image -x
complete -c archfit -n '__archfit_is '"'"'setup argocd'"'"'' -l force
complete -c archfit -n '__archfit_is '"'"'setup argocd'"'"'' -l check
complete -c archfit -n '__archfit_is '"'"'setup argocd'"'"'' -l quiet
complete -c archfit -n '__archfit_is '"'"'setup argocd'"'"'' -s q
complete -c archfit -n '__archfit_is '"'"'setup argocd'"'"'' -l color -x -a 'auto always never'
complete -c archfit -n '__archfit_is '"'"'setup argocd'"'"'' -s h
complete -c archfit -n '__archfit_is '"'"'setup argocd'"'"'' -l help
complete -c archfit -n '__archfit_is '"'"'setup argocd'"'"'' -l help-all
complete -c archfit -n '__archfit_is '"'"'setup argocd'"'"'' -s V
complete -c archfit -n '__archfit_is '"'"'setup argocd'"'"'' -l version
complete -c archfit -n '__archfit_is setup; and test (__archfit_words) = 2' -f -a kustomize -d 'Makes archfit a function of a kustomization, or checks that.'
complete -c archfit -n '__archfit_is '"'"'setup kustomize'"'"'' -f
complete -c archfit -n '__archfit_is '"'"'setup kustomize'"'"'' -l into -x -a '(__fish_complete_directories)'
complete -c archfit -n '__archfit_is '"'"'setup kustomize'"'"'' -l container -x
complete -c archfit -n '__archfit_is '"'"'setup kustomize'"'"'' -l check
complete -c archfit -n '__archfit_is '"'"'setup kustomize'"'"'' -l quiet
complete -c archfit -n '__archfit_is '"'"'setup kustomize'"'"'' -s q
complete -c archfit -n '__archfit_is '"'"'setup kustomize'"'"'' -l color -x -a 'auto always never'
complete -c archfit -n '__archfit_is '"'"'setup kustomize'"'"'' -s h
complete -c archfit -n '__archfit_is '"'"'setup kustomize'"'"'' -l help
complete -c archfit -n '__archfit_is '"'"'setup kustomize'"'"'' -l help-all
complete -c archfit -n '__archfit_is '"'"'setup kustomize'"'"'' -s V
complete -c archfit -n '__archfit_is '"'"'setup kustomize'"'"'' -l version
complete -c archfit -n '__archfit_is setup; and test (__archfit_words) = 2' -f -a kpt -d 'Makes archfit a function of a kpt package, or checks that.'
complete -c archfit -n '__archfit_is '"'"'setup kpt'"'"'' -f
complete -c archfit -n '__archfit_is '"'"'setup kpt'"'"'' -l into -x -a '(__fish_complete_directories)'
complete -c archfit -n '__archfit_is '"'"'setup kpt'"'"'' -l check
complete -c archfit -n '__archfit_is '"'"'setup kpt'"'"'' -l quiet
complete -c archfit -n '__archfit_is '"'"'setup kpt'"'"'' -s q
complete -c archfit -n '__archfit_is '"'"'setup kpt'"'"'' -l color -x -a 'auto always never'
complete -c archfit -n '__archfit_is '"'"'setup kpt'"'"'' -s h
complete -c archfit -n '__archfit_is '"'"'setup kpt'"'"'' -l help
complete -c archfit -n '__archfit_is '"'"'setup kpt'"'"'' -l help-all
complete -c archfit -n '__archfit_is '"'"'setup kpt'"'"'' -s V
complete -c archfit -n '__archfit_is '"'"'setup kpt'"'"'' -l version
complete -c archfit -n '__archfit_is setup; and test (__archfit_words) = 2' -f -a flux -d 'Writes patches for Flux, or checks that they are up to date.'
complete -c archfit -n '__archfit_is '"'"'setup flux'"'"'' -f
complete -c archfit -n '__archfit_is '"'"'setup flux'"'"'' -l into -x -a '(__fish_complete_directories)'
complete -c archfit -n '__archfit_is '"'"'setup flux'"'"'' -l helmrelease
complete -c archfit -n '__archfit_is '"'"'setup flux'"'"'' -l check
complete -c archfit -n '__archfit_is '"'"'setup flux'"'"'' -l quiet
complete -c archfit -n '__archfit_is '"'"'setup flux'"'"'' -s q
complete -c archfit -n '__archfit_is '"'"'setup flux'"'"'' -l color -x -a 'auto always never'
complete -c archfit -n '__archfit_is '"'"'setup flux'"'"'' -s h
complete -c archfit -n '__archfit_is '"'"'setup flux'"'"'' -l help
complete -c archfit -n '__archfit_is '"'"'setup flux'"'"'' -l help-all
complete -c archfit -n '__archfit_is '"'"'setup flux'"'"'' -s V
complete -c archfit -n '__archfit_is '"'"'setup flux'"'"'' -l version
complete -c archfit -n '__archfit_is setup; and test (__archfit_words) = 2' -f -a policy -d 'Writes a CronJob that keeps an admission policy up to date.'
complete -c archfit -n '__archfit_is '"'"'setup policy'"'"'' -f
complete -c archfit -n '__archfit_is '"'"'setup policy'"'"'' -l into -x -a '(__fish_complete_directories)'
complete -c archfit -n '__archfit_is '"'"'setup policy'"'"'' -l schedule -x
complete -c archfit -n '__archfit_is '"'"'setup policy'"'"'' -l image -x
complete -c archfit -n '__archfit_is '"'"'setup policy'"'"'' -l configuration -r -F
complete -c archfit -n '__archfit_is '"'"'setup policy'"'"'' -l registry-secret -x
complete -c archfit -n '__archfit_is '"'"'setup policy'"'"'' -l carrier -x -a 'literal crd'
complete -c archfit -n '__archfit_is '"'"'setup policy'"'"'' -l namespace-selector -x
complete -c archfit -n '__archfit_is '"'"'setup policy'"'"'' -l api-version -x -a 'v1 v1beta1'
complete -c archfit -n '__archfit_is '"'"'setup policy'"'"'' -l name -x
complete -c archfit -n '__archfit_is '"'"'setup policy'"'"'' -l deny
complete -c archfit -n '__archfit_is '"'"'setup policy'"'"'' -l late-changes -x -a 'warn deny'
complete -c archfit -n '__archfit_is '"'"'setup policy'"'"'' -l max-age -x
complete -c archfit -n '__archfit_is '"'"'setup policy'"'"'' -l force
complete -c archfit -n '__archfit_is '"'"'setup policy'"'"'' -l check
complete -c archfit -n '__archfit_is '"'"'setup policy'"'"'' -l context -x
complete -c archfit -n '__archfit_is '"'"'setup policy'"'"'' -l kubeconfig -r -F
complete -c archfit -n '__archfit_is '"'"'setup policy'"'"'' -l quiet
complete -c archfit -n '__archfit_is '"'"'setup policy'"'"'' -s q
complete -c archfit -n '__archfit_is '"'"'setup policy'"'"'' -l color -x -a 'auto always never'
complete -c archfit -n '__archfit_is '"'"'setup policy'"'"'' -s h
complete -c archfit -n '__archfit_is '"'"'setup policy'"'"'' -l help
complete -c archfit -n '__archfit_is '"'"'setup policy'"'"'' -l help-all
complete -c archfit -n '__archfit_is '"'"'setup policy'"'"'' -s V
complete -c archfit -n '__archfit_is '"'"'setup policy'"'"'' -l version
complete -c archfit -n '__archfit_is setup; and test (__archfit_words) = 2' -f -a webhook -d 'Writes the manifests of the admission webhook, or checks them.'
complete -c archfit -n '__archfit_is '"'"'setup webhook'"'"'' -f
complete -c archfit -n '__archfit_is '"'"'setup webhook'"'"'' -l into -x -a '(__fish_complete_directories)'
complete -c archfit -n '__archfit_is '"'"'setup webhook'"'"'' -l namespace -x
complete -c archfit -n '__archfit_is '"'"'setup webhook'"'"'' -l image -x
complete -c archfit -n '__archfit_is '"'"'setup webhook'"'"'' -l configuration -r -F
complete -c archfit -n '__archfit_is '"'"'setup webhook'"'"'' -l lock-file -r -F
complete -c archfit -n '__archfit_is '"'"'setup webhook'"'"'' -l registry-secret -x
complete -c archfit -n '__archfit_is '"'"'setup webhook'"'"'' -l pull-secret -x
complete -c archfit -n '__archfit_is '"'"'setup webhook'"'"'' -l egress-port -x
complete -c archfit -n '__archfit_is '"'"'setup webhook'"'"'' -l api-server -x
complete -c archfit -n '__archfit_is '"'"'setup webhook'"'"'' -l no-network-policy
complete -c archfit -n '__archfit_is '"'"'setup webhook'"'"'' -l client-ca -r -F
complete -c archfit -n '__archfit_is '"'"'setup webhook'"'"'' -l memory-limit -x
complete -c archfit -n '__archfit_is '"'"'setup webhook'"'"'' -l priority-class -x
complete -c archfit -n '__archfit_is '"'"'setup webhook'"'"'' -l cert-manager
complete -c archfit -n '__archfit_is '"'"'setup webhook'"'"'' -l days -x
complete -c archfit -n '__archfit_is '"'"'setup webhook'"'"'' -l renew
complete -c archfit -n '__archfit_is '"'"'setup webhook'"'"'' -l force
complete -c archfit -n '__archfit_is '"'"'setup webhook'"'"'' -l check
complete -c archfit -n '__archfit_is '"'"'setup webhook'"'"'' -l live
complete -c archfit -n '__archfit_is '"'"'setup webhook'"'"'' -l context -x
complete -c archfit -n '__archfit_is '"'"'setup webhook'"'"'' -l kubeconfig -r -F
complete -c archfit -n '__archfit_is '"'"'setup webhook'"'"'' -l quiet
complete -c archfit -n '__archfit_is '"'"'setup webhook'"'"'' -s q
complete -c archfit -n '__archfit_is '"'"'setup webhook'"'"'' -l color -x -a 'auto always never'
complete -c archfit -n '__archfit_is '"'"'setup webhook'"'"'' -s h
complete -c archfit -n '__archfit_is '"'"'setup webhook'"'"'' -l help
complete -c archfit -n '__archfit_is '"'"'setup webhook'"'"'' -l help-all
complete -c archfit -n '__archfit_is '"'"'setup webhook'"'"'' -s V
complete -c archfit -n '__archfit_is '"'"'setup webhook'"'"'' -l version
complete -c archfit -n '__archfit_is setup; and test (__archfit_words) = 2' -f -a fleet -d 'Writes an audit in parts or each night, or checks it.'
complete -c archfit -n '__archfit_is '"'"'setup fleet'"'"'' -f
complete -c archfit -n '__archfit_is '"'"'setup fleet'"'"'' -l engine -x -a 'job argo cron'
complete -c archfit -n '__archfit_is '"'"'setup fleet'"'"'' -l shards -x
complete -c archfit -n '__archfit_is '"'"'setup fleet'"'"'' -l parallelism -x
complete -c archfit -n '__archfit_is '"'"'setup fleet'"'"'' -l schedule -x
complete -c archfit -n '__archfit_is '"'"'setup fleet'"'"'' -l into -x -a '(__fish_complete_directories)'
complete -c archfit -n '__archfit_is '"'"'setup fleet'"'"'' -l namespace -x
complete -c archfit -n '__archfit_is '"'"'setup fleet'"'"'' -l image -x
complete -c archfit -n '__archfit_is '"'"'setup fleet'"'"'' -l cluster -x
complete -c archfit -n '__archfit_is '"'"'setup fleet'"'"'' -l configuration -r -F
complete -c archfit -n '__archfit_is '"'"'setup fleet'"'"'' -l registry-secret -x
complete -c archfit -n '__archfit_is '"'"'setup fleet'"'"'' -l cache -x
complete -c archfit -n '__archfit_is '"'"'setup fleet'"'"'' -l cache-secret -x
complete -c archfit -n '__archfit_is '"'"'setup fleet'"'"'' -l claim -x
complete -c archfit -n '__archfit_is '"'"'setup fleet'"'"'' -l storage-class -x
complete -c archfit -n '__archfit_is '"'"'setup fleet'"'"'' -l node-pools
complete -c archfit -n '__archfit_is '"'"'setup fleet'"'"'' -l force
complete -c archfit -n '__archfit_is '"'"'setup fleet'"'"'' -l check
complete -c archfit -n '__archfit_is '"'"'setup fleet'"'"'' -l context -x
complete -c archfit -n '__archfit_is '"'"'setup fleet'"'"'' -l kubeconfig -r -F
complete -c archfit -n '__archfit_is '"'"'setup fleet'"'"'' -l quiet
complete -c archfit -n '__archfit_is '"'"'setup fleet'"'"'' -s q
complete -c archfit -n '__archfit_is '"'"'setup fleet'"'"'' -l color -x -a 'auto always never'
complete -c archfit -n '__archfit_is '"'"'setup fleet'"'"'' -s h
complete -c archfit -n '__archfit_is '"'"'setup fleet'"'"'' -l help
complete -c archfit -n '__archfit_is '"'"'setup fleet'"'"'' -l help-all
complete -c archfit -n '__archfit_is '"'"'setup fleet'"'"'' -s V
complete -c archfit -n '__archfit_is '"'"'setup fleet'"'"'' -l version
complete -c archfit -n 'test (__archfit_words) = 1' -a cache -d 'Shows where the answers of registries are kept, and removes them.'
complete -c archfit -n '__archfit_is cache; and test (__archfit_words) = 2' -f -a path
complete -c archfit -n '__archfit_is cache; and test (__archfit_words) = 2' -f -a info
complete -c archfit -n '__archfit_is cache; and test (__archfit_words) = 2' -f -a prune
complete -c archfit -n '__archfit_is cache; and test (__archfit_words) = 2' -f -a clear
complete -c archfit -n '__archfit_is cache' -f
complete -c archfit -n '__archfit_is cache' -l json
complete -c archfit -n '__archfit_is cache' -l cache -r -F
complete -c archfit -n '__archfit_is cache' -l cache-password-file -r -F
complete -c archfit -n '__archfit_is cache' -l cache-ca-file -r -F
complete -c archfit -n '__archfit_is cache' -l cache-ttl -x
complete -c archfit -n '__archfit_is cache' -l max-stale -x
complete -c archfit -n '__archfit_is cache' -l quiet
complete -c archfit -n '__archfit_is cache' -s q
complete -c archfit -n '__archfit_is cache' -l color -x -a 'auto always never'
complete -c archfit -n '__archfit_is cache' -l config -r -F
complete -c archfit -n '__archfit_is cache' -s h
complete -c archfit -n '__archfit_is cache' -l help
complete -c archfit -n '__archfit_is cache' -l help-all
complete -c archfit -n '__archfit_is cache' -s V
complete -c archfit -n '__archfit_is cache' -l version
complete -c archfit -n 'test (__archfit_words) = 1' -a last -d 'Shows the report of the last run.'
complete -c archfit -n '__archfit_is last' -f
complete -c archfit -n '__archfit_is last' -l json
complete -c archfit -n '__archfit_is last' -l quiet
complete -c archfit -n '__archfit_is last' -s q
complete -c archfit -n '__archfit_is last' -l color -x -a 'auto always never'
complete -c archfit -n '__archfit_is last' -s h
complete -c archfit -n '__archfit_is last' -l help
complete -c archfit -n '__archfit_is last' -l help-all
complete -c archfit -n '__archfit_is last' -s V
complete -c archfit -n '__archfit_is last' -l version
complete -c archfit -n 'test (__archfit_words) = 1' -a schema -d 'Shows the JSON Schema of a file that archfit reads or writes.'
complete -c archfit -n '__archfit_is schema; and test (__archfit_words) = 2' -f -a config
complete -c archfit -n '__archfit_is schema; and test (__archfit_words) = 2' -f -a report
complete -c archfit -n '__archfit_is schema; and test (__archfit_words) = 2' -f -a check
complete -c archfit -n '__archfit_is schema; and test (__archfit_words) = 2' -f -a explain
complete -c archfit -n '__archfit_is schema; and test (__archfit_words) = 2' -f -a audit
complete -c archfit -n '__archfit_is schema; and test (__archfit_words) = 2' -f -a lock
complete -c archfit -n '__archfit_is schema' -f
complete -c archfit -n '__archfit_is schema' -l quiet
complete -c archfit -n '__archfit_is schema' -s q
complete -c archfit -n '__archfit_is schema' -l color -x -a 'auto always never'
complete -c archfit -n '__archfit_is schema' -s h
complete -c archfit -n '__archfit_is schema' -l help
complete -c archfit -n '__archfit_is schema' -l help-all
complete -c archfit -n '__archfit_is schema' -s V
complete -c archfit -n '__archfit_is schema' -l version
complete -c archfit -n 'test (__archfit_words) = 1' -a completion -d 'Writes the completion script for a shell.'
complete -c archfit -n '__archfit_is completion; and test (__archfit_words) = 2' -f -a bash
complete -c archfit -n '__archfit_is completion; and test (__archfit_words) = 2' -f -a zsh
complete -c archfit -n '__archfit_is completion; and test (__archfit_words) = 2' -f -a fish
complete -c archfit -n '__archfit_is completion' -f
complete -c archfit -n '__archfit_is completion' -l quiet
complete -c archfit -n '__archfit_is completion' -s q
complete -c archfit -n '__archfit_is completion' -l color -x -a 'auto always never'
complete -c archfit -n '__archfit_is completion' -s h
complete -c archfit -n '__archfit_is completion' -l help
complete -c archfit -n '__archfit_is completion' -l help-all
complete -c archfit -n '__archfit_is completion' -s V
complete -c archfit -n '__archfit_is completion' -l version
complete -c archfit -n 'test (__archfit_words) = 1' -a doctor -d 'Shows what this machine has for archfit, and what is wrong.'
complete -c archfit -n '__archfit_is doctor' -f
complete -c archfit -n '__archfit_is doctor' -l registry -x
complete -c archfit -n '__archfit_is doctor' -l live
complete -c archfit -n '__archfit_is doctor' -l json
complete -c archfit -n '__archfit_is doctor' -l lock-file -r -F
complete -c archfit -n '__archfit_is doctor' -l mirror -x
complete -c archfit -n '__archfit_is doctor' -l hosts-dir -x -a '(__fish_complete_directories)'
complete -c archfit -n '__archfit_is doctor' -l registries-conf -r -F
complete -c archfit -n '__archfit_is doctor' -l ca-file -r -F
complete -c archfit -n '__archfit_is doctor' -l allow-host -x
complete -c archfit -n '__archfit_is doctor' -l deny-host -x
complete -c archfit -n '__archfit_is doctor' -l requests-per-second -x
complete -c archfit -n '__archfit_is doctor' -l cache -r -F
complete -c archfit -n '__archfit_is doctor' -l cache-password-file -r -F
complete -c archfit -n '__archfit_is doctor' -l cache-ca-file -r -F
complete -c archfit -n '__archfit_is doctor' -l cache-ttl -x
complete -c archfit -n '__archfit_is doctor' -l max-stale -x
complete -c archfit -n '__archfit_is doctor' -l no-cache
complete -c archfit -n '__archfit_is doctor' -l offline
complete -c archfit -n '__archfit_is doctor' -l no-offline
complete -c archfit -n '__archfit_is doctor' -l timeout -x
complete -c archfit -n '__archfit_is doctor' -l authfile -r -F
complete -c archfit -n '__archfit_is doctor' -l pull-secrets
complete -c archfit -n '__archfit_is doctor' -l no-pull-secrets
complete -c archfit -n '__archfit_is doctor' -l color -x -a 'auto always never'
complete -c archfit -n '__archfit_is doctor' -l config -r -F
complete -c archfit -n '__archfit_is doctor' -s h
complete -c archfit -n '__archfit_is doctor' -l help
complete -c archfit -n '__archfit_is doctor' -l help-all
complete -c archfit -n '__archfit_is doctor' -s V
complete -c archfit -n '__archfit_is doctor' -l version
complete -c archfit -n 'test (__archfit_words) = 1' -a version -d 'Shows the versions of archfit, its Python and its dependencies.'
complete -c archfit -n '__archfit_is version' -f
complete -c archfit -n '__archfit_is version' -l json
complete -c archfit -n '__archfit_is version' -l quiet
complete -c archfit -n '__archfit_is version' -s q
complete -c archfit -n '__archfit_is version' -l color -x -a 'auto always never'
complete -c archfit -n '__archfit_is version' -s h
complete -c archfit -n '__archfit_is version' -l help
complete -c archfit -n '__archfit_is version' -l help-all
complete -c archfit -n '__archfit_is version' -s V
complete -c archfit -n '__archfit_is version' -l version
complete -c archfit -n 'test (__archfit_words) = 1' -a help -d 'Shows the help of a command, or a page of the documentation.'
complete -c archfit -n '__archfit_is help; and test (__archfit_words) = 2' -f -a 'transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help'
complete -c archfit -n '__archfit_is help' -f
complete -c archfit -n '__archfit_is help' -l quiet
complete -c archfit -n '__archfit_is help' -s q
complete -c archfit -n '__archfit_is help' -l color -x -a 'auto always never'
complete -c archfit -n '__archfit_is help' -s h
complete -c archfit -n '__archfit_is help' -l help
complete -c archfit -n '__archfit_is help' -l help-all
complete -c archfit -n '__archfit_is help' -s V
complete -c archfit -n '__archfit_is help' -l version
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l diff
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l in-place
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -s o -r -F
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l output -r -F
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l helm -x
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l kustomize -x -a '(__fish_complete_directories)'
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l cluster-architectures -x
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l tolerate -x
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l affinity -x -a 'needed always never'
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l prefer -x
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l on-absent -x -a 'fail leave'
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l on-unknown -x -a 'fail assume leave'
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l assume -x
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l on-conflict -x -a 'fail leave'
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l immutable -x -a 'needed full'
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l hooks -x -a 'immutable recreated'
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l custom-resources -x -a 'all read seen none'
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l daemon-sets -x -a 'warn fail'
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l strict
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l no-strict
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l on-blank -x -a 'pass comment fail'
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l image-platforms -x
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l exclude -x
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l unlabelled-nodes -x
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l lock-file -r -F
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l locked
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l no-locked
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l stamp
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l no-stamp
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l mirror -x
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l hosts-dir -x -a '(__fish_complete_directories)'
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l registries-conf -r -F
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l ca-file -r -F
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l allow-host -x
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l deny-host -x
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l requests-per-second -x
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l cache -r -F
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l cache-password-file -r -F
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l cache-ca-file -r -F
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l cache-ttl -x
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l max-stale -x
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l no-cache
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l offline
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l no-offline
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l timeout -x
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l authfile -r -F
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l pull-secrets
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l no-pull-secrets
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l report -r -F
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l quiet
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -s q
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l verbose
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -s v
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l color -x -a 'auto always never'
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l config -r -F
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -s h
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l help
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l help-all
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -s V
complete -c archfit -n 'not contains -- (commandline -opc)[2] transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' -l version
