-- Which streams stood still longest?
-- path: baseline or candidate
-- session: session id
-- turn: turn id
-- max_gap_ms: longest wait between two events, in ms
-- chunks: events of the stream
-- times_p99: how many times the baseline's 99th percentile that is
-- none: no stream has times of its events
select path, session, turn, max_gap_ms, chunks,
  max_gap_ms / (
    select value from metrics
    where run = $run and name = 'max_gap_ms_p99' and path = 'baseline' and slice = 'main')
    as times_p99
from captures where run = $run and arm = 'main' and max_gap_ms is not null
order by max_gap_ms desc, path, session, turn limit 20
