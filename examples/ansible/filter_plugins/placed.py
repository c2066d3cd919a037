"""Ansible: the filter `placed` for manifests. Put this file into `filter_plugins/` beside the playbook.

pip install archfit    # into the environment of Ansible
"""

from typing import Any

from ansible.errors import AnsibleFilterError

import archfit


def placed(manifests: str, **options: Any) -> str:
    try:
        return archfit.transform(manifests, **options).manifests
    except archfit.ArchfitError as error:
        raise AnsibleFilterError(f"archfit: {error}") from None


class FilterModule:
    def filters(self) -> dict[str, Any]:
        return {"placed": placed}
