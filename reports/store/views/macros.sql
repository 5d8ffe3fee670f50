-- 97.5% quantile of Student's t with df degrees of freedom: Cornish-Fisher expansion around the
-- normal quantile (Abramowitz & Stegun 26.7.5); error below 1% for df >= 2.
create or replace macro t975(df) as
  1.959963984540054 + 2.372250 / df + 2.822499 / df ** 2 + 2.555862 / df ** 3 + 1.589545 / df ** 4;

-- Half width of the 95% interval of a / b = sum(a_s) / sum(b_s) over m sessions s, linearised and
-- clustered by session; arguments are sum(a*a), sum(a*b), sum(b*b), sum(a), sum(b), m.
-- NULL below 3 sessions.
create or replace macro cluster_half(aa, ab, bb, a, b, m) as
  case when m >= 3 and b > 0 then
    t975(m - 1) * sqrt(greatest(aa - 2 * (a / b) * ab + (a / b) ** 2 * bb, 0) * m / (m - 1)) / b
  end;

-- Observations a rate is worth once its sessions are allowed to differ: n / max(1, design effect).
create or replace macro effective_n(aa, ab, bb, a, b, m) as
  case when m >= 3 and b > 0 then
    b / greatest(1, coalesce(
      (cluster_half(aa, ab, bb, a, b, m) / t975(m - 1)) ** 2 / nullif((a / b) * (1 - a / b) / b, 0), 1))
  end;

-- Wilson's 95% interval of a rate p over n (effective) observations.
create or replace macro wilson_half(p, n) as
  1.959963984540054 * sqrt(p * (1 - p) / n + 0.960364705173531 / n ** 2);
create or replace macro wilson_low(p, n) as
  greatest(0, (p + 1.920729410347062 / n - wilson_half(p, n)) / (1 + 3.841458820694124 / n));
create or replace macro wilson_high(p, n) as
  least(1, (p + 1.920729410347062 / n + wilson_half(p, n)) / (1 + 3.841458820694124 / n));

-- Exact two-sided McNemar p-value of b and c discordant pairs: twice the smaller binomial(b + c, 1/2)
-- tail, at most 1.
create or replace macro mcnemar_p(b, c) as
  least(1, 2 * list_sum(list_transform(range(0, least(b, c)::bigint + 1),
    lambda k: exp(lgamma(b + c + 1) - lgamma(k + 1) - lgamma(b + c - k + 1) - (b + c) * ln(2)))));

-- Upper p quantile of the normal distribution for p < 0.5 (Abramowitz & Stegun 26.2.23).
create or replace macro normal_upper(p) as
  sqrt(-2 * ln(p)) - (2.515517 + 0.802853 * sqrt(-2 * ln(p)) + 0.010328 * (-2 * ln(p)))
    / (1 + 1.432788 * sqrt(-2 * ln(p)) + 0.189269 * (-2 * ln(p)) + 0.001308 * (-2 * ln(p)) ** 1.5);

-- What a difference d with 95% interval d - down .. d + up says, as one of m that are looked at:
-- worse, better or changed, where the interval widened for m (Bonferroni) excludes 0; `unclear`
-- where only the plain one does; else `same`. NULL where there is no interval.
create or replace macro change_of(d, down, up, better, m) as
  case
    when d is null or down is null or up is null then null
    when abs(d) <= if(d > 0, down, up) then 'same'
    when abs(d) <= if(d > 0, down, up) * normal_upper(0.025 / m) / 1.959963984540054 then 'unclear'
    when better is null then 'changed'
    when (d > 0) = (better = 'higher') then 'better'
    else 'worse'
  end;

-- How much a counter grew between two readings; NULL where it fell (the server was started anew) or
-- one of them is missing.
create or replace macro grown(before, now) as case when now >= before then now - before end;
