-- What is the verdict about: how many tokens, of which kind, and what was their text compared with?
-- dimension: decoding, context, boundary, grammar or text
-- slice: the slice; of text: the baseline's, parsed (own tokens through the server's parser), joined (their
-- texts alone) or unseen
-- tokens: candidate tokens, main arm and sampled share
-- share: of all candidate tokens
-- turns: turns that hold them
-- none: the run sent no token
select dimension, slice, tokens, share, turns
from scope where run = $run
order by ordinal
