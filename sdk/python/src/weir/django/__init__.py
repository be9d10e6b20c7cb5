"""A backend for Django's tasks: ``django.tasks`` of Django 6.0, or the package django-tasks before it.

    INSTALLED_APPS = [..., "weir.django"]
    TASKS = {"default": {"BACKEND": "weir.django.backend.WeirBackend", "QUEUES": ["default", "mail"]}}

A task is a tracked job, enqueued on Django's own connection: in ``atomic()`` it is there when that commits, and never
when it rolls back. ``manage.py migrate`` makes the queues, ``manage.py weir_worker`` runs the tasks. A task that raises
is run again after the queue's backoff; it is FAILED when its attempts are used up.

``OPTIONS``: ``database``, the alias (``default``); ``prefix``, of the queues' names in Weir (none); ``priorities``, how
many levels the 201 priorities of Django become, 1 to 8 (1: tasks have no priority); ``results``, whether results are
kept (True); ``queue_settings``, what ``create_queue`` takes; ``group_settings``, what ``configure_group`` takes, such
as ``{"max_attempts": 1}``.
"""
