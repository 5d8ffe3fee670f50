-- What did this run find, and which case file reproduces it?
-- code: finding code
-- severity: severity
-- session: session id
-- turn: turn id
-- message: what was seen
-- case_file: file for `draftgate check`
-- none: no check found anything
select code, severity, session, turn, message, case_file
from findings where run = $run order by severity, ordinal
