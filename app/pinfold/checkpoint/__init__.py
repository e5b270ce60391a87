"""The checkpoint: task, plan, decisions, artifacts and facts, projected from the rollout."""
