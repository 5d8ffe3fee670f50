-- Does the prefix cache serve both paths alike?
-- path: baseline or candidate
-- turns: turns with a count of cached tokens
-- prompt_tokens: prompt tokens in all
-- cached_tokens: of them, served from the cache
-- cached_share: cached_tokens / prompt_tokens
-- none: the servers report no cached tokens (--enable-prompt-tokens-details)
select path, count(*) as turns, sum(prompt_tokens)::bigint as prompt_tokens,
  sum(cached_tokens)::bigint as cached_tokens,
  sum(cached_tokens) / sum(prompt_tokens) as cached_share
from captures
where run = $run and arm = 'main' and cached_tokens is not null
group by path order by path
