"""What a worker does for all mirrors."""

from celery import shared_task

from backoffice.mirror import reads


@shared_task(name="backoffice.mirror.tasks.try_switched_off_reads")
def try_switched_off_reads() -> None:
    """Once a day, let the reads that Endl lacked be tried again."""
    reads.try_again(by="system: schedule")
