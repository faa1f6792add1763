"""The worker of the server set-up, as a real process over a real redis-server."""

import signal
from pathlib import Path

import pytest
from celery import Celery

from tests.deploy.processes import Started, clean_environment


@pytest.mark.redis
@pytest.mark.django_db(transaction=True)
def test_the_worker_takes_a_task_from_redis_and_ends_when_asked(
    redis_url: str, database_urls: dict[str, str], tmp_path: Path
) -> None:
    environment = clean_environment(
        REDIS_URL=redis_url,
        SECRET_KEY="s" * 48,
        HASH_KEY="h" * 48,
        REMEMBRANCER_HOME=str(tmp_path),
        **database_urls,
    )
    command = ["-m", "celery", "-A", "config.celery", "worker", "--pool", "threads"]
    worker = Started([*command, "--concurrency", "2"], environment, tmp_path / "worker.out")
    try:
        worker.wait_for(" ready.")
        sender = Celery(broker=redis_url, set_as_current=False)
        sender.send_task("memory.tasks.sweep", queue="remembrancer")
        sender.close()
        assert "done in" in worker.wait_for("task memory.tasks.sweep [")
    finally:
        code = worker.end(signal.SIGTERM)
    assert code == 0
