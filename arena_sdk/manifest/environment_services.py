"""What runs beside a language model's environment: containers and the services they make up."""

from __future__ import annotations

from collections.abc import Iterator

from arena_sdk.manifest.base import Fault, Section, about, fault

DNS_LABEL = r"^[a-z]([-a-z0-9]*[a-z0-9])?$"
VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]*$"


class Container(Section):
    """One container of a service. Amounts are Kubernetes quantities such as `500m` or `2Gi`."""

    name: str = about("Name of the container.", pattern=DNS_LABEL, max_length=40)
    image: str = about("Image it runs.")
    command: list[str] | None = about("Command instead of the image's own.", None)
    env: dict[str, str] = about("Environment variables.", dict)
    port: int | None = about(
        "Port it serves on; exactly one container has one.", None, ge=1, le=65535
    )
    setup_command: list[str] | None = about("Command that runs before it starts.", None)
    readiness_command: list[str] | None = about("Command that succeeds once it is ready.", None)
    readiness_path: str | None = about("Path that answers on its port once it is ready.", None)
    cpu: str = about("CPUs that are reserved.", "10m")
    memory: str | None = about("Memory that is reserved.", None)
    memory_limit: str | None = about("Memory that it may use.", None)
    ephemeral_storage: str | None = about("Disk space that is reserved.", None)
    memory_rootfs: str | None = about("Size of a root file system in memory.", None)

    def faults(self) -> Iterator[Fault]:
        """Yield the broken rules of readiness and of a root file system in memory."""
        yield from super().faults()
        if self.readiness_command is not None and self.readiness_path is not None:
            yield fault("Write readiness_command or readiness_path, not both.", "readiness_path")
        if self.readiness_path is not None and self.port is None:
            yield fault(
                "It is asked for on the container's `port`, which is not set.", "readiness_path"
            )
        if self.memory_rootfs is not None and self.command is None:
            yield fault(
                "It needs a `command`; the image's own is not run from it.", "memory_rootfs"
            )


class Service(Section):
    """Containers that are reached under one address."""

    name: str = about("Name of the service.", pattern=DNS_LABEL, max_length=30)
    port: int = about("Port the service is reached on.", ge=1, le=65535)
    url_env: str = about("Environment variable that holds its address.", pattern=VARIABLE)
    containers: list[Container] = about("Containers it is made of.", min_length=1)
    ready_timeout_s: float = about("Seconds until it must be ready.", 600.0, gt=0.0)

    def faults(self) -> Iterator[Fault]:
        """Yield the broken rules: names used once, one container that serves."""
        yield from super().faults()
        for name in repeated([container.name for container in self.containers]):
            yield fault(f"The container name {name!r} is used more than once.", "containers")
        serving = [container.name for container in self.containers if container.port is not None]
        if len(serving) != 1:
            yield fault(
                f"Exactly one container must have a port; {', '.join(serving) or 'none'} has.",
                "containers",
            )


def repeated(names: list[str]) -> list[str]:
    """Return the names that occur more than once, each once."""
    return sorted({name for name in names if names.count(name) > 1})
