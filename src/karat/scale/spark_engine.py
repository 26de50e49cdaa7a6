"""Spark: a local one in a Java process of its own, or a master that is running."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from karat.errors import InputError, MetricError, MissingExtra, quoted
from karat.progress import interrupts_later
from karat.scale.clusters import (
    ATTEMPTS,
    Cluster,
    check_listening,
    import_extra,
    on_this_machine,
)
from karat.scale.spark_jobs import SparkRunner
from karat.settings import parse_settings, setting
from karat.storage.temporary import temporary_folder

_QUIET = {
    "spark.app.name": "karat",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.task.maxFailures": str(ATTEMPTS),
}
_LOOPBACK = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}


@dataclass(frozen=True)
class Spark(Cluster):
    """Spark: a master such as spark://host:7077, yarn or k8s://…; any `spark.*` is a setting."""

    name: ClassVar[str] = "spark"
    title: ClassVar[str] = "Spark"
    conf: tuple[str, ...] = setting(
        (), "Spark's own settings: spark.executor.memory=4g and others, by their full names."
    )

    @classmethod
    def parse(cls, text: str) -> Spark:
        """Return the engine that `spark:setting=value,…` describes; `spark.*` are settings, too."""
        head, _, rest = text.partition(":")
        items = [item.strip() for item in rest.split(",") if item.strip()]
        own = ",".join(item for item in items if not item.startswith("spark."))
        more = [item.partition("=") for item in items if item.startswith("spark.")]
        found = parse_settings(cls, f"{head}:{own}" if own else head)
        return found.with_options({key.strip(): value.strip() for key, _, value in more})

    def _written(self, value: Callable[[str], str]) -> str:
        if not self.conf:
            return super()._written(value)
        own = replace(self, conf=())._written(value)
        return own + ("," if ":" in own else ":") + ",".join(self.conf)

    def with_options(self, options: Mapping[str, str]) -> Spark:
        """Return the engine with other settings; `spark.*` are handed to Spark."""
        if "conf" in options:
            raise MetricError("spark: give Spark's own settings by their full names, spark.…=…")
        own = {key: value for key, value in options.items() if not key.startswith("spark.")}
        more = tuple(f"{key}={options[key]}" for key in options if key not in own)
        found = super().with_options(own)
        return replace(found, conf=(*self.conf, *more)) if isinstance(found, Spark) else self

    def settings_for(self, workers: int, folder: str) -> dict[str, str]:
        """Return all settings that Spark gets."""
        master = self.address or f"local[{workers},{ATTEMPTS}]"
        found = {"spark.master": master, **_QUIET}
        if self.address is None or on_this_machine(self.address):
            found.update(_LOOPBACK)
        if self.address is None:
            found.update({"spark.local.dir": folder, "spark.driver.memory": "1g"})
        for item in self.conf:
            key, equals, value = item.partition("=")
            if not (key.startswith("spark.") and equals):
                raise MetricError(f"spark: conf {quoted(item)}: expected spark.…=value")
            found[key] = value
        return found

    @contextmanager
    def running(self, pieces: int) -> Iterator[SparkRunner]:
        """Start a local Spark, or connect to a master."""
        import_extra("pyspark", self.title, "spark")
        self._check_place()
        with temporary_folder("karat-spark") as folder:
            chosen = self.settings_for(self.local_workers(pieces), folder)
            with (
                open(os.path.join(folder, "log"), "wb") as log,
                self._context(chosen, log) as context,
            ):
                yield SparkRunner(self, context)

    def _check_place(self) -> None:
        home = os.environ.get("JAVA_HOME")
        java = shutil.which("java", path=os.path.join(home, "bin") if home else None)
        if java is None:
            where = f" in JAVA_HOME={home}" if home else ""
            raise MissingExtra(
                f"Spark needs Java 17 or later, and there is no java{where}: install it"
            )
        address = self.address or ""
        if address.startswith("sc://"):
            raise self.unreachable("Spark Connect has no tasks, expected spark://host:port")
        if address.startswith("spark://"):
            check_listening(self, address.removeprefix("spark://"))

    @contextmanager
    def _context(self, chosen: Mapping[str, str], log: Any) -> Iterator[Any]:
        """Start a Java process with its standard error in a file, and end it."""
        from pyspark import SparkConf, SparkContext
        from pyspark.java_gateway import launch_gateway

        if SparkContext._active_spark_context is not None:
            raise InputError("this process has a SparkContext already: stop it first")
        conf = SparkConf(loadDefaults=False).setAll(list(chosen.items()))
        context = gateway = None
        try:
            try:
                with interrupts_later():  # and without pyspark's handler, which calls Java
                    gateway = launch_gateway(conf, {"stderr": log, "stdout": log})
                    context = SparkContext(conf=conf, gateway=gateway)
                    context.setLogLevel("OFF")
                if self.address is None or "PYSPARK_PYTHON" not in os.environ:
                    context.pythonExec = sys.executable
            except Exception as error:  # whatever Java says
                raise self.not_started(error) from error
            yield context
        finally:
            _end(context, gateway)


def _end(context: Any, gateway: Any) -> None:
    """Stop the context; the Java process ends when its input closes."""
    from pyspark import SparkContext

    with suppress(Exception):  # of a Java process that is gone
        if context is not None:
            context.stop()
    if gateway is None:
        return
    with suppress(Exception):
        gateway.shutdown()
    gateway.proc.stdin.close()
    try:
        gateway.proc.wait(20)
    except Exception:
        gateway.proc.kill()
        gateway.proc.wait()
    SparkContext._gateway = SparkContext._jvm = None
