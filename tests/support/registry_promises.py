"""The promises of docs/registries.md, each with the tests that hold it.

    promise    its first words on the page; a list item, a row, or a sentence of a paragraph
    tests      functions, or ids of cases, below tests/

`test_promises.py` checks that the page says each of them, that the tests are there, and that no item of a list and no
row of the page's tables is without an entry.
"""

from __future__ import annotations

PROMISES: dict[str, tuple[str, ...]] = {
    "1. `--mirror` of its registry": (
        "test_where_a_reference_is_asked",
        "test_mirror_beats_registries_conf_beats_hosts_toml",
    ),
    "2. `--registries-conf FILE`": (
        "test_mirror_beats_registries_conf_beats_hosts_toml",
        "longest-prefix",
    ),
    "3. `--hosts-dir DIR`": (
        "test_which_folder_is_about_a_registry",
        "hosts-in-the-files-order-then-the-server-and-ns",
    ),
    "4. Its own registry, over https.": (
        "test_where_an_image_is_asked",
        "test_plain_http_is_never_chosen_by_itself",
    ),
    "What `registries.conf` blocks is asked nowhere": ("test_what_is_blocked_is_asked_nowhere",),
    "If one has a mistake, the run exits with 2": (
        "test_a_mistake_is_a_usage_error_that_names_file_and_key",
    ),
    "Of several servers archfit asks the next one at once": (
        "test_the_next_one_is_asked_at_once_where_one_does_not_answer",
    ),
    "The\nimage is absent only if the last one says so.": ("test_absent_is_what_the_last_one_says",),
    "A run does not ask a server again that it could not reach.": (
        "test_one_that_is_down_is_not_tried_again_in_the_run",
    ),
    "Bytes that do not match\ntheir digest are an error": (
        "test_bytes_with_another_digest_are_refused_and_not_kept",
        "test_bytes_of_an_untrusted_mirror_are_verified",
    ),
    "- Folders: `host_5000_`": ("test_which_folder_is_about_a_registry",),
    "- `resolve`: the server may answer for tags": (
        "test_a_tag_is_asked_only_where_it_may_be",
        "test_one_that_may_only_resolve_says_the_digest_and_another_sends_it",
    ),
    "- `/v2` is added to the URL's path": (
        "v2-is-added-to-the-path",
        "override-path-is-the-root-as-it-stands",
    ),
    "- `header` goes to that server only": (
        "test_headers_go_to_their_own_server_alone",
        "test_nor_do_they_go_to_the_token_service",
    ),
    "- Unlike containerd, archfit never chooses plain HTTP": (
        "test_plain_http_is_not_turned_to_for_loopback",
    ),
    "- The default CAs are those of": (
        "test_ca_file_counts_for_every_server_beside_the_usual",
        "test_a_servers_ca_counts_for_that_server_alone",
    ),
    "- Client certificates are for one server.": (
        "test_a_client_certificate_is_shown_to_its_server_alone",
        "test_a_client_key_with_a_password_is_an_error_and_not_a_question",
    ),
    "- `skip_verify` and `insecure` are for one server": (
        "test_skip_verify_is_for_one_server_and_said_loudly",
        "test_an_insecure_registry_without_tls_is_asked_over_http_and_said",
        "test_neither_a_mirror_nor_a_proxy_makes_anything_insecure",
    ),
    "- If several files name one server": ("test_a_redirect_takes_no_trust_along",),
    "`NO_PROXY` takes names": ("test_which_proxy",),
    "No message shows a proxy's user and password.": ("test_a_proxys_password_is_never_shown",),
    "archfit then checks only hosts that are written as an address": (
        "test_a_proxy_is_not_told_to_dial_special_addresses",
    ),
    "| link-local, cloud metadata": (
        "test_kinds_of_addresses",
        "test_special_addresses_are_refused_even_where_the_operator_named_the_server",
    ),
    "| loopback |": (
        "test_loopback_is_refused_where_only_a_reference_names_it",
        "test_who_names_a_server_on_loopback",
    ),
    "| private (RFC 1918": (
        "test_a_private_registry_that_only_a_reference_names",
        "test_who_may_be_where",
    ),
    "| public |": ("test_kinds_of_addresses",),
    "archfit resolves a name once, checks the addresses": ("test_the_judged_address_is_the_one_dialled",),
    "Redirects and token services on other hosts get no extra trust.": (
        "test_a_target_on_loopback_is_refused_where_nobody_named_it",
        "test_an_https_realm_on_loopback_is_refused",
    ),
    "The operator names a server by `--mirror`": ("test_who_names_a_server_on_loopback", "test_allow_host"),
    "Stored credentials go to the registry that they are for": (
        "test_who_is_sent_credentials",
        "test_which_token_service_elsewhere_is_sent_a_registrys_credentials",
    ),
    "- At most 32 requests are in flight for a server": (
        "test_at_most_32_of_one_server_at_once_and_then_one_for_each_that_is_done",
        "test_at_most_64_threads",
        "test_helpers_run_side_by_side_within_the_deadline_and_none_stays",
        "test_429_halves_the_share_of_the_host",
    ),
    "- A document of a registry has at most 4 MiB and 200,000 values": (
        "test_documents_are_counted_before_they_are_built",
        "test_two_large_answers_at_once_and_the_third_waits_for_a_place",
        "test_64_hostile_answers_stay_within_120_mib_and_the_deadline",
    ),
    "- archfit first asks the token service that a registry named in an earlier run": (
        "test_a_token_service_that_moved_away_is_found_again",
        "test_a_registry_that_names_the_same_dead_token_service_is_not_asked_for_ever",
    ),
    "- archfit asks again after 408, 429, 500, 502, 503 and 504": (
        "test_what_passes_is_asked_again",
        "test_retry_after_is_waited_for",
        "test_a_pause_that_a_server_asks_for_holds_for_every_image_of_it",
        "test_a_server_is_asked_again_no_more_than_its_budget",
        "test_but_not_beyond_the_deadline",
        "test_the_pull_limit_is_not_asked_again",
    ),
    "- If no server can be asked, archfit uses an older answer": (
        "test_an_old_answer_is_used_and_said_where_nobody_can_be_asked",
        "test_but_not_one_older_than_max_stale",
    ),
    "- Manifests and configs have at most 4 MiB": (
        "test_a_document_above_the_limit_is_cut_off",
        "test_so_are_configs_and_tokens",
        "test_at_most_five",
        "test_a_compressed_answer_is_refused_unread",
    ),
    "- `--requests-per-second HOST=N`": (
        "test_requests_leave_one_after_the_other",
        "test_whose_requests_count",
        "test_processes_together_keep_to_the_budget",
        "test_a_server_that_is_gone_in_the_middle_makes_it_slower_and_right",
        "test_a_turn_after_the_deadline_is_an_error_that_names_the_option_and_is_not_reserved",
    ),
}
