# archfit: completion for bash, written by `archfit completion bash`.
_archfit() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} flags='' values='' files=-f
    local both=''
    # --flag=value stands there as three words
    if [[ $current == = ]]; then
        current=''
    elif [[ $previous == = ]]; then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    case "${COMP_WORDS[1]} ${COMP_WORDS[2]}" in
    'setup cluster') flags='--live --context --kubeconfig --arch-taint -o --output --quiet -q --color -h --help --help-all -V --version'
        case $previous in
        --color) values='auto always never' ;;
        --context|--arch-taint) files='' ;;
        --kubeconfig|-o|--output) files=-f ;;
        esac
        ;;
    'setup autoscaler') flags='--architecture --namespace -o --output --quiet -q --color -h --help --help-all -V --version'
        case $previous in
        --color) values='auto always never' ;;
        --architecture|--namespace) files='' ;;
        -o|--output) files=-f ;;
        esac
        ;;
    'setup workloads') flags='--crds --include-known -o --output --quiet -q --color -h --help --help-all -V --version'
        files=''
        case $previous in
        --color) values='auto always never' ;;
        --crds|-o|--output) files=-f ;;
        esac
        ;;
    'setup helm') flags='--into --check --helm --quiet -q --color -h --help --help-all -V --version'
        files=''
        case $previous in
        --color) values='auto always never' ;;
        --into) files=-d ;;
        --helm) files=-f ;;
        esac
        ;;
    'setup argocd') flags='--into --discover --image --bundle-image --force --check --quiet -q --color -h --help --help-all -V --version'
        files=''
        case $previous in
        --color) values='auto always never' ;;
        --into) files=-d ;;
        --image|--bundle-image) files='' ;;
        esac
        ;;
    'setup kustomize') flags='--into --container --check --quiet -q --color -h --help --help-all -V --version'
        files=''
        case $previous in
        --color) values='auto always never' ;;
        --into) files=-d ;;
        --container) files='' ;;
        esac
        ;;
    'setup kpt') flags='--into --check --quiet -q --color -h --help --help-all -V --version'
        files=''
        case $previous in
        --color) values='auto always never' ;;
        --into) files=-d ;;
        esac
        ;;
    'setup flux') flags='--into --helmrelease --check --quiet -q --color -h --help --help-all -V --version'
        files=''
        case $previous in
        --color) values='auto always never' ;;
        --into) files=-d ;;
        esac
        ;;
    'setup policy') flags='--into --schedule --image --configuration --registry-secret --carrier --namespace-selector --api-version --name --deny --late-changes --max-age --force --check --context --kubeconfig --quiet -q --color -h --help --help-all -V --version'
        files=''
        case $previous in
        --carrier) values='literal crd' ;;
        --api-version) values='v1 v1beta1' ;;
        --late-changes) values='warn deny' ;;
        --color) values='auto always never' ;;
        --into) files=-d ;;
        --schedule|--image|--registry-secret|--namespace-selector|--name|--max-age|--context) files='' ;;
        --configuration|--kubeconfig) files=-f ;;
        esac
        ;;
    'setup webhook') flags='--into --namespace --image --configuration --lock-file --registry-secret --pull-secret --egress-port --api-server --no-network-policy --client-ca --memory-limit --priority-class --cert-manager --days --renew --force --check --live --context --kubeconfig --quiet -q --color -h --help --help-all -V --version'
        files=''
        case $previous in
        --color) values='auto always never' ;;
        --into) files=-d ;;
        --namespace|--image|--registry-secret|--pull-secret|--egress-port|--api-server|--memory-limit|--priority-class|--days|--context) files='' ;;
        --configuration|--lock-file|--client-ca|--kubeconfig) files=-f ;;
        esac
        ;;
    'setup fleet') flags='--engine --shards --parallelism --schedule --into --namespace --image --cluster --configuration --registry-secret --cache --cache-secret --claim --storage-class --node-pools --force --check --context --kubeconfig --quiet -q --color -h --help --help-all -V --version'
        files=''
        case $previous in
        --engine) values='job argo cron' ;;
        --color) values='auto always never' ;;
        --shards|--parallelism|--schedule|--namespace|--image|--cluster|--registry-secret|--cache|--cache-secret|--claim|--storage-class|--context) files='' ;;
        --into) files=-d ;;
        --configuration|--kubeconfig) files=-f ;;
        esac
        ;;
    'transform '*) flags='--diff --in-place -o --output --helm --kustomize --cluster-architectures --tolerate --affinity --prefer --on-absent --on-unknown --assume --on-conflict --immutable --hooks --custom-resources --daemon-sets --strict --no-strict --on-blank --image-platforms --exclude --unlabelled-nodes --lock-file --locked --no-locked --stamp --no-stamp --mirror --hosts-dir --registries-conf --ca-file --allow-host --deny-host --requests-per-second --cache --cache-password-file --cache-ca-file --cache-ttl --max-stale --no-cache --offline --no-offline --timeout --authfile --pull-secrets --no-pull-secrets --report --quiet -q --verbose -v --color --config -h --help --help-all -V --version'
        case $previous in
        --affinity) values='needed always never' ;;
        --on-absent) values='fail leave' ;;
        --on-unknown) values='fail assume leave' ;;
        --on-conflict) values='fail leave' ;;
        --immutable) values='needed full' ;;
        --hooks) values='immutable recreated' ;;
        --custom-resources) values='all read seen none' ;;
        --daemon-sets) values='warn fail' ;;
        --on-blank) values='pass comment fail' ;;
        --color) values='auto always never' ;;
        -o|--output|--lock-file|--registries-conf|--ca-file|--cache|--cache-password-file|--cache-ca-file|--authfile|--report|--config) files=-f ;;
        --helm|--cluster-architectures|--tolerate|--prefer|--assume|--image-platforms|--exclude|--unlabelled-nodes|--mirror|--allow-host|--deny-host|--requests-per-second|--cache-ttl|--max-stale|--timeout) files='' ;;
        --kustomize|--hosts-dir) files=-d ;;
        esac
        ;;
    'check '*) flags='--helm --kustomize --require --allow-unknown --newer-tags --format --source-root --cluster-architectures --tolerate --affinity --prefer --on-absent --on-unknown --assume --on-conflict --immutable --hooks --custom-resources --daemon-sets --strict --no-strict --on-blank --image-platforms --exclude --unlabelled-nodes --lock-file --locked --no-locked --stamp --no-stamp --mirror --hosts-dir --registries-conf --ca-file --allow-host --deny-host --requests-per-second --cache --cache-password-file --cache-ca-file --cache-ttl --max-stale --no-cache --offline --no-offline --timeout --authfile --pull-secrets --no-pull-secrets --report --quiet -q --verbose -v --color --config -h --help --help-all -V --version'
        case $previous in
        --format) values='text json github gitlab sarif markdown junit kustomize renovate' ;;
        --affinity) values='needed always never' ;;
        --on-absent) values='fail leave' ;;
        --on-unknown) values='fail assume leave' ;;
        --on-conflict) values='fail leave' ;;
        --immutable) values='needed full' ;;
        --hooks) values='immutable recreated' ;;
        --custom-resources) values='all read seen none' ;;
        --daemon-sets) values='warn fail' ;;
        --on-blank) values='pass comment fail' ;;
        --color) values='auto always never' ;;
        --helm|--require|--cluster-architectures|--tolerate|--prefer|--assume|--image-platforms|--exclude|--unlabelled-nodes|--mirror|--allow-host|--deny-host|--requests-per-second|--cache-ttl|--max-stale|--timeout) files='' ;;
        --kustomize|--source-root|--hosts-dir) files=-d ;;
        --lock-file|--registries-conf|--ca-file|--cache|--cache-password-file|--cache-ca-file|--authfile|--report|--config) files=-f ;;
        esac
        ;;
    'explain '*) flags='--helm --kustomize --only --format --cluster-architectures --tolerate --affinity --prefer --on-absent --on-unknown --assume --on-conflict --immutable --hooks --custom-resources --daemon-sets --strict --no-strict --on-blank --image-platforms --exclude --unlabelled-nodes --lock-file --locked --no-locked --stamp --no-stamp --mirror --hosts-dir --registries-conf --ca-file --allow-host --deny-host --requests-per-second --cache --cache-password-file --cache-ca-file --cache-ttl --max-stale --no-cache --offline --no-offline --timeout --authfile --pull-secrets --no-pull-secrets --report --quiet -q --verbose -v --color --config -h --help --help-all -V --version'
        case $previous in
        --format) values='text json' ;;
        --affinity) values='needed always never' ;;
        --on-absent) values='fail leave' ;;
        --on-unknown) values='fail assume leave' ;;
        --on-conflict) values='fail leave' ;;
        --immutable) values='needed full' ;;
        --hooks) values='immutable recreated' ;;
        --custom-resources) values='all read seen none' ;;
        --daemon-sets) values='warn fail' ;;
        --on-blank) values='pass comment fail' ;;
        --color) values='auto always never' ;;
        --helm|--only|--cluster-architectures|--tolerate|--prefer|--assume|--image-platforms|--exclude|--unlabelled-nodes|--mirror|--allow-host|--deny-host|--requests-per-second|--cache-ttl|--max-stale|--timeout) files='' ;;
        --kustomize|--hosts-dir) files=-d ;;
        --lock-file|--registries-conf|--ca-file|--cache|--cache-password-file|--cache-ca-file|--authfile|--report|--config) files=-f ;;
        esac
        ;;
    'patch '*) flags='--helm --kustomize --format --cluster-architectures --tolerate --affinity --prefer --on-absent --on-unknown --assume --on-conflict --immutable --hooks --custom-resources --daemon-sets --strict --no-strict --on-blank --image-platforms --exclude --unlabelled-nodes --lock-file --locked --no-locked --stamp --no-stamp --mirror --hosts-dir --registries-conf --ca-file --allow-host --deny-host --requests-per-second --cache --cache-password-file --cache-ca-file --cache-ttl --max-stale --no-cache --offline --no-offline --timeout --authfile --pull-secrets --no-pull-secrets --report --quiet -q --verbose -v --color --config -h --help --help-all -V --version'
        case $previous in
        --format) values='kustomize flux-helmrelease flux-kustomization fleet sveltos kubevela json' ;;
        --affinity) values='needed always never' ;;
        --on-absent) values='fail leave' ;;
        --on-unknown) values='fail assume leave' ;;
        --on-conflict) values='fail leave' ;;
        --immutable) values='needed full' ;;
        --hooks) values='immutable recreated' ;;
        --custom-resources) values='all read seen none' ;;
        --daemon-sets) values='warn fail' ;;
        --on-blank) values='pass comment fail' ;;
        --color) values='auto always never' ;;
        --helm|--cluster-architectures|--tolerate|--prefer|--assume|--image-platforms|--exclude|--unlabelled-nodes|--mirror|--allow-host|--deny-host|--requests-per-second|--cache-ttl|--max-stale|--timeout) files='' ;;
        --kustomize|--hosts-dir) files=-d ;;
        --lock-file|--registries-conf|--ca-file|--cache|--cache-password-file|--cache-ca-file|--authfile|--report|--config) files=-f ;;
        esac
        ;;
    'policy '*) flags='--carrier --namespace-selector --api-version --name --deny --late-changes --max-age --stats --check --live --apply --context --kubeconfig --json --cluster-architectures --tolerate --affinity --prefer --on-absent --on-unknown --assume --custom-resources --strict --no-strict --on-blank --image-platforms --exclude --unlabelled-nodes --lock-file --locked --no-locked --mirror --hosts-dir --registries-conf --ca-file --allow-host --deny-host --requests-per-second --cache --cache-password-file --cache-ca-file --cache-ttl --max-stale --no-cache --offline --no-offline --timeout --authfile --quiet -q --color --config -h --help --help-all -V --version'
        case $previous in
        --carrier) values='literal crd' ;;
        --api-version) values='v1 v1beta1' ;;
        --late-changes) values='warn deny' ;;
        --affinity) values='needed always never' ;;
        --on-absent) values='fail leave' ;;
        --on-unknown) values='fail assume leave' ;;
        --custom-resources) values='all read seen none' ;;
        --on-blank) values='pass comment fail' ;;
        --color) values='auto always never' ;;
        --namespace-selector|--name|--max-age|--context|--cluster-architectures|--tolerate|--prefer|--assume|--image-platforms|--exclude|--unlabelled-nodes|--mirror|--allow-host|--deny-host|--requests-per-second|--cache-ttl|--max-stale|--timeout) files='' ;;
        --kubeconfig|--lock-file|--registries-conf|--ca-file|--cache|--cache-password-file|--cache-ca-file|--authfile|--config) files=-f ;;
        --hosts-dir) files=-d ;;
        esac
        ;;
    'audit '*) flags='--helm --kustomize --live --context --kubeconfig -n --namespace --cluster --require --min-ready --allow-unknown --newer-tags --assume-cpu --price --currency --prices --format --by --wave --own --all -o --output --merge --compare --fail-on-regression --history --shards --shard --image-platforms --lock-file --locked --no-locked --mirror --hosts-dir --registries-conf --ca-file --allow-host --deny-host --requests-per-second --cache --cache-password-file --cache-ca-file --cache-ttl --max-stale --no-cache --offline --no-offline --timeout --authfile --quiet -q --color --config -h --help --help-all -V --version'
        case $previous in
        --format) values='text json csv markdown html openmetrics rules kustomize renovate' ;;
        --color) values='auto always never' ;;
        --helm|--context|-n|--namespace|--cluster|--require|--min-ready|--assume-cpu|--price|--currency|--by|--wave|--own|--shards|--shard|--image-platforms|--mirror|--allow-host|--deny-host|--requests-per-second|--cache-ttl|--max-stale|--timeout) files='' ;;
        --kustomize|--hosts-dir) files=-d ;;
        --kubeconfig|--prices|-o|--output|--merge|--compare|--history|--lock-file|--registries-conf|--ca-file|--cache|--cache-password-file|--cache-ca-file|--authfile|--config) files=-f ;;
        esac
        ;;
    'lock '*) flags='--helm --kustomize --from-audit --add-missing --update --prune --check --json --lock-file --image-platforms --custom-resources --exclude --unlabelled-nodes --on-blank --mirror --hosts-dir --registries-conf --ca-file --allow-host --deny-host --requests-per-second --cache --cache-password-file --cache-ca-file --no-cache --timeout --authfile --quiet -q --color --config -h --help --help-all -V --version'
        case $previous in
        --custom-resources) values='all read seen none' ;;
        --on-blank) values='pass comment fail' ;;
        --color) values='auto always never' ;;
        --helm|--update|--image-platforms|--exclude|--unlabelled-nodes|--mirror|--allow-host|--deny-host|--requests-per-second|--timeout) files='' ;;
        --kustomize|--hosts-dir) files=-d ;;
        --from-audit|--lock-file|--registries-conf|--ca-file|--cache|--cache-password-file|--cache-ca-file|--authfile|--config) files=-f ;;
        esac
        ;;
    'inspect '*) flags='--json --raw --newer-tags --image-platforms --mirror --hosts-dir --registries-conf --ca-file --allow-host --deny-host --requests-per-second --cache --cache-password-file --cache-ca-file --no-cache --offline --no-offline --timeout --authfile --quiet -q --color --config -h --help --help-all -V --version'
        files=''
        case $previous in
        --color) values='auto always never' ;;
        --image-platforms|--mirror|--allow-host|--deny-host|--requests-per-second|--timeout) files='' ;;
        --hosts-dir) files=-d ;;
        --registries-conf|--ca-file|--cache|--cache-password-file|--cache-ca-file|--authfile|--config) files=-f ;;
        esac
        ;;
    'login-check '*) flags='--json --mirror --hosts-dir --registries-conf --ca-file --allow-host --deny-host --requests-per-second --offline --no-offline --timeout --authfile --quiet -q --color --config -h --help --help-all -V --version'
        files=''
        case $previous in
        --color) values='auto always never' ;;
        --mirror|--allow-host|--deny-host|--requests-per-second|--timeout) files='' ;;
        --hosts-dir) files=-d ;;
        --registries-conf|--ca-file|--authfile|--config) files=-f ;;
        esac
        ;;
    'serve '*) flags='--listen --probe-listen --tls-dir --tls-cert --tls-key --client-ca --insecure-http --pull-secret --memory-limit --drain-delay --log-level --cluster-architectures --tolerate --affinity --prefer --on-absent --on-unknown --assume --on-conflict --strict --no-strict --image-platforms --exclude --unlabelled-nodes --lock-file --locked --no-locked --mirror --hosts-dir --registries-conf --ca-file --allow-host --deny-host --requests-per-second --cache --cache-password-file --cache-ca-file --cache-ttl --max-stale --no-cache --offline --no-offline --timeout --authfile --quiet -q --color --config -h --help --help-all -V --version'
        files=''
        case $previous in
        --log-level) values='debug info warning error' ;;
        --affinity) values='needed always never' ;;
        --on-absent) values='fail leave' ;;
        --on-unknown) values='fail assume leave' ;;
        --on-conflict) values='fail leave' ;;
        --color) values='auto always never' ;;
        --listen|--probe-listen|--pull-secret|--memory-limit|--drain-delay|--cluster-architectures|--tolerate|--prefer|--assume|--image-platforms|--exclude|--unlabelled-nodes|--mirror|--allow-host|--deny-host|--requests-per-second|--cache-ttl|--max-stale|--timeout) files='' ;;
        --tls-dir|--hosts-dir) files=-d ;;
        --tls-cert|--tls-key|--client-ca|--lock-file|--registries-conf|--ca-file|--cache|--cache-password-file|--cache-ca-file|--authfile|--config) files=-f ;;
        esac
        ;;
    'helm '*) flags='--cluster-architectures --tolerate --affinity --prefer --on-absent --on-unknown --assume --on-conflict --immutable --hooks --custom-resources --daemon-sets --strict --no-strict --on-blank --image-platforms --exclude --unlabelled-nodes --lock-file --locked --no-locked --stamp --no-stamp --mirror --hosts-dir --registries-conf --ca-file --allow-host --deny-host --requests-per-second --cache --cache-password-file --cache-ca-file --cache-ttl --max-stale --no-cache --offline --no-offline --timeout --authfile --pull-secrets --no-pull-secrets --report --quiet -q --verbose -v --color --config -h --help --help-all -V --version'
        files=''
        case $previous in
        --affinity) values='needed always never' ;;
        --on-absent) values='fail leave' ;;
        --on-unknown) values='fail assume leave' ;;
        --on-conflict) values='fail leave' ;;
        --immutable) values='needed full' ;;
        --hooks) values='immutable recreated' ;;
        --custom-resources) values='all read seen none' ;;
        --daemon-sets) values='warn fail' ;;
        --on-blank) values='pass comment fail' ;;
        --color) values='auto always never' ;;
        --cluster-architectures|--tolerate|--prefer|--assume|--image-platforms|--exclude|--unlabelled-nodes|--mirror|--allow-host|--deny-host|--requests-per-second|--cache-ttl|--max-stale|--timeout) files='' ;;
        --lock-file|--registries-conf|--ca-file|--cache|--cache-password-file|--cache-ca-file|--authfile|--report|--config) files=-f ;;
        --hosts-dir) files=-d ;;
        esac
        ;;
    'argocd '*) flags='--helm --helm-option --helm-dependencies --kustomize --kustomize-option --cluster-architectures --tolerate --affinity --prefer --on-absent --on-unknown --assume --on-conflict --immutable --hooks --custom-resources --daemon-sets --strict --no-strict --on-blank --image-platforms --exclude --unlabelled-nodes --lock-file --locked --no-locked --stamp --no-stamp --mirror --hosts-dir --registries-conf --ca-file --allow-host --deny-host --requests-per-second --cache --cache-password-file --cache-ca-file --cache-ttl --max-stale --no-cache --offline --no-offline --timeout --authfile --pull-secrets --no-pull-secrets --report --quiet -q --verbose -v --color --config -h --help --help-all -V --version'
        [[ $COMP_CWORD == 2 && $current != -* ]] && values='generate parameters discover'
        files=''
        case $previous in
        --affinity) values='needed always never' ;;
        --on-absent) values='fail leave' ;;
        --on-unknown) values='fail assume leave' ;;
        --on-conflict) values='fail leave' ;;
        --immutable) values='needed full' ;;
        --hooks) values='immutable recreated' ;;
        --custom-resources) values='all read seen none' ;;
        --daemon-sets) values='warn fail' ;;
        --on-blank) values='pass comment fail' ;;
        --color) values='auto always never' ;;
        --helm|--kustomize|--lock-file|--registries-conf|--ca-file|--cache|--cache-password-file|--cache-ca-file|--authfile|--report|--config) files=-f ;;
        --helm-option|--kustomize-option|--cluster-architectures|--tolerate|--prefer|--assume|--image-platforms|--exclude|--unlabelled-nodes|--mirror|--allow-host|--deny-host|--requests-per-second|--cache-ttl|--max-stale|--timeout) files='' ;;
        --hosts-dir) files=-d ;;
        esac
        ;;
    'setup '*) flags='--quiet -q --color -h --help --help-all -V --version'
        [[ $COMP_CWORD == 2 && $current != -* ]] && values='cluster autoscaler workloads helm argocd kustomize kpt flux policy webhook fleet'
        files=''
        case $previous in
        --color) values='auto always never' ;;
        esac
        ;;
    'cache '*) flags='--json --cache --cache-password-file --cache-ca-file --cache-ttl --max-stale --quiet -q --color --config -h --help --help-all -V --version'
        [[ $COMP_CWORD == 2 && $current != -* ]] && values='path info prune clear'
        files=''
        case $previous in
        --color) values='auto always never' ;;
        --cache|--cache-password-file|--cache-ca-file|--config) files=-f ;;
        --cache-ttl|--max-stale) files='' ;;
        esac
        ;;
    'last '*) flags='--json --quiet -q --color -h --help --help-all -V --version'
        files=''
        case $previous in
        --color) values='auto always never' ;;
        esac
        ;;
    'schema '*) flags='--quiet -q --color -h --help --help-all -V --version'
        [[ $COMP_CWORD == 2 && $current != -* ]] && values='config report check explain audit lock'
        files=''
        case $previous in
        --color) values='auto always never' ;;
        esac
        ;;
    'completion '*) flags='--quiet -q --color -h --help --help-all -V --version'
        [[ $COMP_CWORD == 2 && $current != -* ]] && values='bash zsh fish'
        files=''
        case $previous in
        --color) values='auto always never' ;;
        esac
        ;;
    'doctor '*) flags='--registry --live --json --lock-file --mirror --hosts-dir --registries-conf --ca-file --allow-host --deny-host --requests-per-second --cache --cache-password-file --cache-ca-file --cache-ttl --max-stale --no-cache --offline --no-offline --timeout --authfile --pull-secrets --no-pull-secrets --color --config -h --help --help-all -V --version'
        files=''
        case $previous in
        --color) values='auto always never' ;;
        --registry|--mirror|--allow-host|--deny-host|--requests-per-second|--cache-ttl|--max-stale|--timeout) files='' ;;
        --lock-file|--registries-conf|--ca-file|--cache|--cache-password-file|--cache-ca-file|--authfile|--config) files=-f ;;
        --hosts-dir) files=-d ;;
        esac
        ;;
    'version '*) flags='--json --quiet -q --color -h --help --help-all -V --version'
        files=''
        case $previous in
        --color) values='auto always never' ;;
        esac
        ;;
    'help '*) flags='--quiet -q --color -h --help --help-all -V --version'
        [[ $COMP_CWORD == 2 && $current != -* ]] && values='transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help'
        files=''
        case $previous in
        --color) values='auto always never' ;;
        esac
        ;;
    *) flags='--diff --in-place -o --output --helm --kustomize --cluster-architectures --tolerate --affinity --prefer --on-absent --on-unknown --assume --on-conflict --immutable --hooks --custom-resources --daemon-sets --strict --no-strict --on-blank --image-platforms --exclude --unlabelled-nodes --lock-file --locked --no-locked --stamp --no-stamp --mirror --hosts-dir --registries-conf --ca-file --allow-host --deny-host --requests-per-second --cache --cache-password-file --cache-ca-file --cache-ttl --max-stale --no-cache --offline --no-offline --timeout --authfile --pull-secrets --no-pull-secrets --report --quiet -q --verbose -v --color --config -h --help --help-all -V --version'
        case $previous in
        --affinity) values='needed always never' ;;
        --on-absent) values='fail leave' ;;
        --on-unknown) values='fail assume leave' ;;
        --on-conflict) values='fail leave' ;;
        --immutable) values='needed full' ;;
        --hooks) values='immutable recreated' ;;
        --custom-resources) values='all read seen none' ;;
        --daemon-sets) values='warn fail' ;;
        --on-blank) values='pass comment fail' ;;
        --color) values='auto always never' ;;
        -o|--output|--lock-file|--registries-conf|--ca-file|--cache|--cache-password-file|--cache-ca-file|--authfile|--report|--config) files=-f ;;
        --helm|--cluster-architectures|--tolerate|--prefer|--assume|--image-platforms|--exclude|--unlabelled-nodes|--mirror|--allow-host|--deny-host|--requests-per-second|--cache-ttl|--max-stale|--timeout) files='' ;;
        --kustomize|--hosts-dir) files=-d ;;
        esac
        ;;
    esac
    if [[ $COMP_CWORD == 1 && $current != -* ]]; then
        values='transform check explain patch policy audit lock inspect login-check serve helm argocd setup cache last schema completion doctor version help' both=yes
    fi
    COMPREPLY=()
    if [[ $values ]]; then
        COMPREPLY=($(compgen -W "$values" -- "$current"))
        if [[ $both ]]; then
            COMPREPLY+=($(compgen -f -- "$current"))
        fi
    elif [[ $current == -* ]]; then
        COMPREPLY=($(compgen -W "$flags" -- "$current"))
    elif [[ $files ]]; then
        COMPREPLY=($(compgen $files -- "$current"))
    fi
}
complete -o filenames -F _archfit archfit
