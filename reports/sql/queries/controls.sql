-- Were the planted faults caught?
-- kind: what was planted
-- expected: the code that must fire
-- state: caught, missed, no_data or not_applicable
-- fired: codes that fired
-- detail: how many copies, and why it is missed
-- none: the run ended before faults were planted
select kind, expected, state, fired, detail from controls where run = $run order by ordinal
