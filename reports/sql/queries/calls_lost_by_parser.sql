-- Under which tool parser do calls get lost or damaged, over all runs?
-- tool_parser: vLLM tool-call parser of the candidate
-- vllm_version: vLLM version of the candidate
-- code: finding code
-- runs: runs that show it
-- findings: findings in all
-- none: no run lost or damaged a call
select p.tool_parser, p.vllm_version, f.code, count(distinct f.run) as runs, count(*) as findings
from findings f join paths p on p.run = f.run and p.path = 'candidate'
where not f.baseline_too and (f.code in ('TOOL_HEADER_MISSING', 'TOOL_INDEX_REUSED',
  'EMPTY_TOOL_CALL', 'TOOL_CALL_LOST', 'TOOL_UNKNOWN', 'SPLIT_VARIANT') or f.code like 'ARGS\_%' escape '\'
  or f.code like 'MARKER\_LEAK\_%' escape '\')
group by all order by findings desc, p.tool_parser, f.code
