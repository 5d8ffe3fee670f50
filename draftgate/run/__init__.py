"""The main job: plan, replay, score, judge, store, report."""
