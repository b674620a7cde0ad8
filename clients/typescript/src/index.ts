// A client of the render farm's API, for browsers and Node 20 or newer.
//
//     const farm = new FarmClient({ server: "https://farm.example.com", key: "pm_live_..." });
//     const job = await farm.createRender({ templateId, inputs: { headline: "Hello" } });
//     const done = await farm.wait(job.jobId);
//     const video = await farm.downloadRender(done.jobId);

import { Operations, type JobRecord, type TemplateRecord } from "./operations.js";
import { ApiError, NoAnswer, Transport, type Options } from "./transport.js";

export * from "./operations.js";
export { ApiError, NoAnswer, type FieldFault, type Options } from "./transport.js";

const PAGE = 100;
const PAUSE_MAX_MS = 5000;
const AWAY_MAX_MS = 60_000; // a farm that is updated meanwhile is back by then

/** A render that failed or was cancelled. */
export class RenderFailed extends Error {
  constructor(readonly job: JobRecord) {
    super(job.error ?? `the render was ${job.status}`);
    this.name = "RenderFailed";
  }
}

export class FarmClient extends Operations {
  constructor(options: Options) {
    super(new Transport(options));
  }

  /**
   * Waits until a render is completed, also while the farm is away for a minute. Throws RenderFailed, and an Error after `timeoutMs`.
   * Each answer, with status and progress, goes to `onJob`.
   */
  async wait(jobId: string, timeoutMs = 3_600_000, onJob?: (job: JobRecord) => void): Promise<JobRecord> {
    const deadline = Date.now() + timeoutMs;
    let heard = Date.now();
    for (let pause = 250; ; pause = Math.min(PAUSE_MAX_MS, pause * 1.5)) {
      try {
        const job = await this.getRender(jobId);
        heard = Date.now();
        onJob?.(job);
        if (job.status === "completed") return job;
        if (job.status === "failed" || job.status === "cancelled") throw new RenderFailed(job);
      } catch (error) {
        const isAway = error instanceof NoAnswer || (error instanceof ApiError && error.status >= 500);
        if (!isAway || Date.now() - heard > AWAY_MAX_MS) throw error;
      }
      if (Date.now() + pause > deadline) throw new Error(`render ${jobId} did not end in time`);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  /** All renders, newest first. */
  renders(): AsyncGenerator<JobRecord> {
    return all((query) => this.listRenders(query), (job) => job.jobId);
  }

  /** All templates, newest first. */
  templates(): AsyncGenerator<TemplateRecord> {
    return all((query) => this.listTemplates(query), (template) => template.id);
  }
}

/** Each item once: items made meanwhile move others to later pages. */
async function* all<Item>(
  list: (query: { limit: number; offset: number }) => Promise<{ items: Item[]; total: number }>,
  idOf: (item: Item) => string,
): AsyncGenerator<Item> {
  const seen = new Set<string>();
  for (let offset = 0; ; offset += PAGE) {
    const page = await list({ limit: PAGE, offset });
    yield* page.items.filter((item) => !seen.has(idOf(item)));
    for (const item of page.items) seen.add(idOf(item));
    if (page.items.length === 0 || offset + page.items.length >= page.total) return;
  }
}
