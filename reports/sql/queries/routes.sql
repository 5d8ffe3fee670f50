-- What did users' clients get on each route?
-- route: chat (the plain arm), messages, responses or completions
-- turns: turns that both paths were asked
-- answered: turns that both answered
-- refused: turns that both refused; all of them: the servers do not have the route
-- same_prompt: answered turns whose prompt has as many tokens as in the main arm
-- compared: answered turns whose texts were compared, for no rounding can part them
-- equal: answered turns with equal texts and calls
-- errors: findings at severity error that the candidate alone shows
-- none: no turn was replayed as users send it (plain_share and routes, docs/configuration.md)
select route, turns, answered, refused, same_prompt, compared, equal, errors
from routes where run = $run order by arm = 'plain' desc, arm
