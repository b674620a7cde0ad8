// How requests are sent: with a credential, repeated after lost answers, with one idempotency key for all attempts.

/** One operation as data. */
export interface Call {
  method: string;
  path: string;
  body?: unknown;
  form?: Record<string, unknown>;
  query?: Record<string, unknown>;
  idempotencyKey?: string;
  answer: "json" | "file";
}

export interface Options {
  /** The farm's origin, such as `https://farm.example.com`. */
  server: string;
  /** An API key. */
  key?: string;
  /** A session token instead of a key. */
  token?: string;
  /** Attempts of a request; 6 by default. */
  attempts?: number;
  /** Longest wait for the beginning of an answer; 60,000 by default. Uploads take as long as their file needs. */
  timeoutMs?: number;
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch;
}

/** One field that breaks a rule. */
export interface FieldFault {
  field: string;
  message: string;
}

/** A failure that the farm reports. Its message names every fault of a refused request. */
export class ApiError extends Error {
  /** Every fault of a refused request. */
  readonly errors: readonly FieldFault[];

  constructor(readonly status: number, readonly body: Record<string, unknown>) {
    const message = body["message"];
    const errors = Array.isArray(body["errors"]) ? body["errors"].filter(isFault) : [];
    const faults = errors.map((fault) => `\n  ${fault.field}: ${fault.message}`).join("");
    const said = Array.isArray(message) ? (faults ? body["error"] : message.join("; ")) : message; // a list repeats the faults
    super(`${status}: ${String(said ?? "no reason given")}${faults}`);
    this.name = "ApiError";
    this.errors = errors;
  }

  /** The stable code, for programs. */
  get code(): string | undefined {
    return this.body["code"] as string | undefined;
  }
}

/** False for the errors of other shapes that gateways before a farm answer. */
function isFault(error: unknown): error is FieldFault {
  return typeof error === "object" && error !== null && "field" in error && "message" in error;
}

/** The farm could not be reached, after all attempts. `cause` has the last error. */
export class NoAnswer extends Error {
  constructor(call: Call, server: string, cause: unknown) {
    const inner = cause instanceof Error ? (cause.cause ?? cause) : cause; // `fetch` says only "fetch failed" itself
    super(`${call.method} ${new URL(call.path, server)}: no answer: ${inner instanceof Error ? inner.message || inner.name : String(inner)}`, { cause });
    this.name = "NoAnswer";
  }
}

const FIRST_PAUSE_MS = 250;
const PAUSE_MAX_MS = 20_000; // unless the farm asks for more
const TIMER_MAX_MS = 2 ** 31 - 1; // a longer timer ends at once
const ASKED_MAX_MS = 30_000; // of the pause that a 5xx asks for: a proxy can ask for an hour of maintenance
const TIMEOUT_MS = 60_000;
const MADE_TWICE = ["/api/v1/keys", "/api/v1/templates", "/api/v1/templates/import"];

export class Transport {
  private readonly fetch: typeof fetch;

  constructor(private readonly options: Options) {
    if (!/^https?:\/\//i.test(options.server) || !URL.canParse(options.server)) {
      throw new TypeError(`server must be an address such as https://farm.example.com, not ${JSON.stringify(options.server)}`);
    }
    this.fetch = options.fetch ?? globalThis.fetch.bind(globalThis);
  }

  /** A fresh idempotency key. */
  newKey(): string {
    return crypto.randomUUID();
  }

  /** Sends a call and reads its answer. Throws ApiError for a failure that the farm reports, and NoAnswer. */
  async send<Answer>(call: Call): Promise<Answer> {
    const attempts = this.options.attempts ?? 6;
    for (let attempt = 1; ; attempt++) {
      let pause = Math.min(PAUSE_MAX_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1));
      try {
        const response = await this.once(call);
        if (response.ok) {
          return (call.answer === "json" ? await response.json() : await response.blob()) as Answer;
        }
        const error = new ApiError(response.status, await readFailure(response));
        const isLimited = response.status === 429; // nothing was done
        if (attempt >= attempts || !(isLimited || (response.status >= 500 && mayRepeat(call)))) throw error;
        const header = response.headers.get("Retry-After") ?? "";
        const asked = /^\d{1,9}$/.test(header) ? 1000 * Number(header) : 0; // proxies can send a date
        pause = Math.max(pause, isLimited ? asked : Math.min(asked, ASKED_MAX_MS));
      } catch (error) {
        if (error instanceof ApiError) throw error;
        if (attempt >= attempts || !mayRepeat(call)) throw new NoAnswer(call, this.options.server, error);
      }
      await new Promise((resolve) => setTimeout(resolve, Math.min(TIMER_MAX_MS, pause)));
    }
  }

  private async once(call: Call): Promise<Response> {
    const url = new URL(call.path, this.options.server);
    for (const [name, value] of Object.entries(call.query ?? {})) {
      if (value !== undefined && value !== null) url.searchParams.set(name, String(value));
    }
    const abort = new AbortController();
    const limit = this.options.timeoutMs ?? TIMEOUT_MS;
    const timer = call.form === undefined ? setTimeout(() => abort.abort(new Error(`none after ${limit} ms`)), limit) : undefined;
    try {
      return await this.fetch(url, { method: call.method, headers: this.headers(call), body: bodyOf(call), signal: abort.signal });
    } finally {
      clearTimeout(timer);
    }
  }

  private headers(call: Call): Record<string, string> {
    const found: Record<string, string> = {};
    // Not X-API-Key: a redirect to another host would carry it along, and `fetch` drops this header there.
    const credential = this.options.key ?? this.options.token;
    if (credential) found["Authorization"] = `Bearer ${credential}`;
    if (call.body !== undefined) found["Content-Type"] = "application/json";
    if (call.idempotencyKey) found["Idempotency-Key"] = call.idempotencyKey;
    return found;
  }
}

/** False for what a second request would make again. */
function mayRepeat(call: Call): boolean {
  return call.method !== "POST" || call.idempotencyKey !== undefined || !MADE_TWICE.includes(call.path);
}

function bodyOf(call: Call): BodyInit | undefined {
  if (call.form === undefined) return call.body === undefined ? undefined : JSON.stringify(call.body);
  const form = new FormData();
  for (const [name, value] of Object.entries(call.form)) {
    // Without the type that the name suggests: it is refused where the name is wrong, and the bytes give the type.
    if (value instanceof Blob) form.set(name, new Blob([value]), (value as File).name ?? "file");
    else if (value !== undefined && value !== null) form.set(name, String(value));
  }
  return form;
}

async function readFailure(response: Response): Promise<Record<string, unknown>> {
  try {
    const body: unknown = await response.json();
    return typeof body === "object" && body !== null ? (body as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
