"""Forgetting and purging: what is chosen, what that comes to, and doing it. Command, API and pages
call the same: `selection.chosen`, `plan.plan_of`, `execute.forget` and `execute.purge`."""
