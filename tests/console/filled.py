"""A farm with content on every page of the console."""

from __future__ import annotations

from farm_core.ids import new_id
from tests.api.world import template_body
from tests.console.people import Person


def farm(person: Person) -> dict[str, str]:
    """Fill every page of the farm with content. Return the ids."""
    world, template = person.api.world, person.api.template(fps=24)
    assert person.api.ask("PUT", f"/templates/{template}", json=template_body()).status_code == 200
    queued, failed = (str(person.api.render(template).json()["jobId"]) for _ in range(2))
    world.move(failed, "failed", error="The photo could not be fetched: 404 Not Found.")
    world.database.execute(
        "INSERT INTO workers (id, node, renderer, device, encoder, seen_at) VALUES (%s, 'node-a', 'r', 'llvmpipe', 'libx264', %s)",
        (f"worker-{new_id('w')}", world.clock.now()),
    )
    batch = person.api.batch(template)
    return {"template": template, "queued": queued, "failed": failed, "batch": batch, "account": person.api.account_id}
