-- What did this run find, and which case file reproduces it?
-- code: finding code
-- severity: severity
-- session: session id
-- turn: turn id
-- boundary: what was being written there
-- message: what was seen
-- cause: likely cause, where one is known
-- case_file: file for `draftgate check`
-- none: no check found anything
select code, severity, session, turn, boundary, message, cause, case_file
from findings where run = $run order by severity, ordinal
