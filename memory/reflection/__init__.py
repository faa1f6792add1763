"""Insights: what a week of events has in common. They wait for their owner, whatever they say."""
