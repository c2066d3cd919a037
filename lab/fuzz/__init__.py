"""The fuzzer: `make fuzz SECONDS=600 SEED=1`.

    objects  ─┐
    documents ┴─ trees (changed) ─ writing ─ framing ─ texts (changed) ─> streams: text and options, by seed and number
    streams ─ engine ─ properties ─> questions ─ the Go judge ─> verdicts ─ properties ─> defects
    defects ─ shrinking ─> one file for each signature

Stream number n of a seed is always the same text, whatever ran before it.
"""
