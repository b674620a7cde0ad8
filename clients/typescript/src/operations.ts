// Generated from the farm's OpenAPI document by generate.py. Do not edit.

import type { Transport } from "./transport.js";

/** Limits of the account; null is unlimited. */
export interface AccountLimits {
  /** False means keys do not work. */
  apiEnabled: boolean;
  monthlyRenderMinutes: number | null;
  monthlyApiRequests: number | null;
  maxActiveApiKeys: number | null;
  maxUploadBytes: number | null;
}

/** Number of renders of a batch that this request cancelled. */
export interface BatchCancelled {
  batchId: string;
  cancelled: number;
}

/** A row of a batch: its job, or the faults for which it was refused. */
export interface BatchItem {
  /** The row's place in the request. */
  index: number;
  status: JobStatus | "refused";
  jobId?: string | null;
  progress?: number;
  videoUrl?: string | null;
  error?: string | null;
  /** Faults of a refused row. */
  errors?: Array<Fault>;
  warnings?: Array<JobWarning>;
  metadata?: Record<string, unknown> | null;
}

/** A batch, and a page of its rows: first those with a job, then the refused ones. */
export interface BatchRecord {
  batchId: string;
  templateId: string;
  status: "running" | "ended";
  progress: number;
  totals: BatchTotals;
  createdAt: string;
  items: Array<BatchItem>;
  total: number;
  limit: number;
  offset: number;
}

/** Renders of one template with the same output and callback. All rows are checked before the first one is queued. */
export interface BatchRequest {
  /** A template of the caller's account. */
  templateId: string;
  rows: Array<BatchRow>;
  /** Size and frame rate, by default the template's own. Width times height is at most 16 megapixels. */
  output?: RenderOutput | null;
  /** Public http(s) URL that gets one webhook when the render ends. */
  callbackUrl?: string | null;
  /**
   * Extension: renders of a higher priority come first among those of the account, a step for each day of waiting.
   * At most the account's own, which the operator sets and which is the default; 0 for new accounts.
   */
  priority?: number | null;
  /** Queue the rows without faults even if others have some. */
  partial?: boolean | null;
}

/** One render of a batch. */
export interface BatchRow {
  /** Values by input id, of the types that the template's inputs declare. */
  inputs?: Record<string, string | number>;
  /** Extension: an object of the caller's own, at most 4096 bytes of JSON; returned with the job. */
  metadata?: Record<string, unknown> | null;
}

/** Number of rows in each state. */
export interface BatchTotals {
  queued: number;
  processing: number;
  completed: number;
  failed: number;
  cancelled: number;
  refused: number;
}

/** The object is deleted. */
export interface Deleted {
  deleted?: boolean;
}

/** Body of every failure. The fields of a code are beside the others. */
export interface ErrorBody {
  /** Equals the HTTP status. */
  statusCode: number;
  /** For people; not stable. */
  message: string | Array<string>;
  /** The status in words. */
  error: string;
  /** The id of this request in the logs. */
  requestId: string;
  /** The route that failed. */
  path: string;
  /** Stable, for programs. */
  code?: string | null;
  /** Additional data. */
  detail?: unknown;
  /** Of validation failures. */
  errors?: Array<Fault> | null;
  /** Of insufficient_scope. */
  required?: string | null;
  /** Of key_limit_reached, quota_exceeded, upload_too_large. */
  limit?: number | null;
  /** Of quota_exceeded: render_minutes, api_requests or storage_bytes. */
  kind?: string | null;
  /** Of quota_exceeded. */
  used?: number | null;
  /** Of rate_limit_exceeded. */
  retryAfterSeconds?: number | null;
  /** Of unrenderable_assets. */
  layers?: Array<UnfetchableLayer> | null;
  /** Of upload_too_large. */
  bytes?: number | null;
  /** Status of the job whose download is refused. */
  status?: string | null;
}

/** One field that breaks a rule. */
export interface Fault {
  field: string;
  message: string;
}

/** The process answers. */
export interface Health {
  status?: string;
}

/** A template that was imported or replaced, with warnings for its author. */
export interface ImportedTemplate {
  id: string;
  name: string;
  description: string | null;
  width: number;
  height: number;
  fps: number;
  durationSeconds: number;
  inputs: Array<ShownInput>;
  /** Extension: the number of versions, once the template has been replaced. */
  version?: number;
  createdAt: string;
  updatedAt: string;
  /** Ids of the inputs that every render must supply. */
  requiredInputs: Array<string>;
  warnings: Array<string>;
}

export interface JobPage {
  items: Array<JobRecord>;
  /** Number of all entries. */
  total: number;
  limit: number;
  offset: number;
}

/** A render job. */
export interface JobRecord {
  jobId: string;
  status: JobStatus;
  progress: number;
  videoUrl: string | null;
  error: string | null;
  createdAt: string;
  /** Extension: what the video leaves out. Missing if it leaves out nothing. */
  warnings?: Array<JobWarning>;
  /** Extension: the request's `metadata`, if it had one. */
  metadata?: Record<string, unknown> | null;
}

/** Identifier and current status of a job. */
export interface JobState {
  jobId: string;
  status: JobStatus;
}

/** The five public states of a job. */
export type JobStatus = "queued" | "processing" | "completed" | "failed" | "cancelled";

/** One thing that the video leaves out or shows differently from its document. */
export interface JobWarning {
  /** Stable, for programs. */
  code: string;
  /** For people. */
  message: string;
  /** The layer's name. */
  layer?: string | null;
}

export interface KeyPage {
  items: Array<KeySummary>;
  /** Number of all entries. */
  total: number;
  limit: number;
  offset: number;
}

/** Properties of a new key. */
export interface KeyRequest {
  /** Truncated to 80 characters. */
  name?: string | null;
  scopes?: Array<Scope> | null;
  /** A time in the future, in UTC if it has no offset. Without it the key does not expire. */
  expiresAt?: string | null;
}

/** A key without its secret. */
export interface KeySummary {
  id: string;
  name: string;
  /** The first characters of the key. */
  prefix: string;
  scopes: Array<Scope>;
  createdAt: string;
  lastUsedAt: string | null;
  requestCount: number;
  expiresAt: string | null;
  revokedAt: string | null;
}

/** A new key. Its secret is shown only here. */
export interface NewKey {
  id: string;
  name: string;
  /** The first characters of the key. */
  prefix: string;
  scopes: Array<Scope>;
  createdAt: string;
  lastUsedAt: string | null;
  requestCount: number;
  expiresAt: string | null;
  revokedAt: string | null;
  secret: string;
}

export interface PresetPage {
  items: Array<PresetRow>;
  /** Number of all entries. */
  total: number;
  limit: number;
  offset: number;
}

/** A preset. */
export interface PresetRecord {
  id: string;
  name: string;
  version: number;
  createdAt: string;
  updatedAt: string;
  animationData: Record<string, unknown>;
}

/** A preset to publish; an existing name is replaced. */
export interface PresetRequest {
  name: string;
  /** The preset's payload. */
  animationData: Record<string, unknown>;
}

/** A preset in a list. */
export interface PresetRow {
  id: string;
  name: string;
  version: number;
  createdAt: string;
  updatedAt: string;
}

/** State of each dependency of requests. */
export interface Readiness {
  ready: boolean;
  checks: Record<string, boolean>;
}

export interface RenderOutput {
  format?: "mp4" | null;
  width?: number | null;
  height?: number | null;
  fps?: number | null;
}

/** A render to create. All faults are reported at once. */
export interface RenderRequest {
  /** A template of the caller's account. */
  templateId: string;
  /** Values by input id, of the types that the template's inputs declare. */
  inputs: Record<string, string | number>;
  /** Size and frame rate, by default the template's own. Width times height is at most 16 megapixels. */
  output?: RenderOutput | null;
  /** Public http(s) URL that gets one webhook when the render ends. */
  callbackUrl?: string | null;
  /** Extension: an object of the caller's own, at most 4096 bytes of JSON; returned with the job. */
  metadata?: Record<string, unknown> | null;
  /**
   * Extension: renders of a higher priority come first among those of the account, a step for each day of waiting.
   * At most the account's own, which the operator sets and which is the default; 0 for new accounts.
   */
  priority?: number | null;
}

/** A new version of a template. */
export interface ReplacementRequest {
  /** Truncated to 500 characters. */
  description?: string | null;
  /** The full editor document snapshot. */
  document: {
    scene: {
      nodes: Array<unknown>;
    };
  };
  inputs: Array<TemplateInput>;
  width: number;
  height: number;
  fps: number;
  durationSeconds: number;
  projectId?: string | null;
  /** Truncated to 120 characters. Left out, the template keeps its name. */
  name?: string | null;
  /** Keep labels that differ from the former document, and leave out inputs that the former version left out. */
  keepChoices?: boolean | null;
}

/** The key no longer works. */
export interface Revoked {
  revoked?: boolean;
}

/** The five scopes. */
export type Scope = "renders:read" | "renders:write" | "templates:read" | "templates:write" | "usage:read";

/** An input of a stored template. */
export interface ShownInput {
  id: string;
  label: string;
  kind: "text" | "color" | "number" | "image" | "media";
  required: boolean;
  default?: string | null;
}

/** A still with inputs. With neither time nor frame it shows the frame at a third of the duration. */
export interface StillRequest {
  /** Values by input id, of the types that the template's inputs declare. */
  inputs?: Record<string, string | number>;
  /** Moment in seconds. */
  time?: number | null;
  /** Frame number from 0, instead of a time. */
  frame?: number | null;
  /** Width in pixels. */
  width?: number | null;
  format?: "png" | "jpeg" | "webp" | null;
}

/** A value that can differ in each render. */
export interface TemplateInput {
  /** The key to send in `inputs`. */
  id: string;
  label: string;
  kind: "text" | "color" | "number" | "image" | "media";
  /** True by default for `image` and `media`. */
  required?: boolean | null;
  /** Public URL of the layer's source. */
  default?: string | null;
}

export interface TemplatePage {
  items: Array<TemplateRecord>;
  /** Number of all entries. */
  total: number;
  limit: number;
  offset: number;
}

/** A template, without the write targets of its inputs. */
export interface TemplateRecord {
  id: string;
  name: string;
  description: string | null;
  width: number;
  height: number;
  fps: number;
  durationSeconds: number;
  inputs: Array<ShownInput>;
  /** Extension: the number of versions, once the template has been replaced. */
  version?: number;
  createdAt: string;
  updatedAt: string;
}

/** A template to publish. */
export interface TemplateRequest {
  /** Truncated to 500 characters. */
  description?: string | null;
  /** The full editor document snapshot. */
  document: {
    scene: {
      nodes: Array<unknown>;
    };
  };
  inputs: Array<TemplateInput>;
  width: number;
  height: number;
  fps: number;
  durationSeconds: number;
  projectId?: string | null;
  /** Truncated to 120 characters. */
  name: string;
}

/** A layer whose media cannot be fetched. */
export interface UnfetchableLayer {
  layer: string;
  reason: string;
}

/** An upload. */
export interface UploadRecord {
  /** Can be passed as the value of an image or media input. */
  url: string;
  bytes: number;
  /** Determined from the bytes. */
  mime: string;
  expiresAt: string;
}

/** Usage of the account in this UTC month. */
export interface UsageRecord {
  /** YYYY-MM */
  period: string;
  renderJobs: number;
  renderDurationMs: number;
  /** Output duration committed by finished renders. */
  renderedMinutes: number;
  /** Held by jobs that are queued or processing. */
  reservedRenderMinutes: number;
  apiRequests: number;
  assetProcessingBytes: number;
  activeApiKeys: number;
  limits: AccountLimits;
}

/** Cost and faults of a render that is not created. */
export interface Validation {
  valid: boolean;
  errors: Array<Fault>;
  /** Minutes that the render would reserve. */
  renderMinutes: number;
  /** Minutes of the month that are left; null without a limit. */
  remainingMinutes: number | null;
  /** Expected time of the render without a queue, from the account's last renders; null if unknown. */
  expectedSeconds: number | null;
  /** What the video would leave out, as far as known without drawing. */
  warnings: Array<JobWarning>;
}

export interface VersionPage {
  items: Array<VersionRecord>;
  /** Number of all entries. */
  total: number;
  limit: number;
  offset: number;
}

/** A former version of a template, which can be restored. */
export interface VersionRecord {
  version: number;
  width: number;
  height: number;
  fps: number;
  durationSeconds: number;
  inputs: Array<ShownInput>;
  replacedAt: string;
}

/** A method for each operation of the API. */
export class Operations {
  constructor(protected readonly transport: Transport) {}

  /** List Keys */
  listKeys(query: { limit?: number; offset?: number } = {}): Promise<KeyPage> {
    return this.transport.send<KeyPage>({ method: "GET", path: `/api/v1/keys`, query, answer: "json" });
  }

  /** Create Key */
  createKey(body?: KeyRequest): Promise<NewKey> {
    return this.transport.send<NewKey>({ method: "POST", path: `/api/v1/keys`, body, answer: "json" });
  }

  /** Revoke Key */
  revokeKey(id: string): Promise<Revoked> {
    return this.transport.send<Revoked>({ method: "DELETE", path: `/api/v1/keys/${encodeURIComponent(id)}`, answer: "json" });
  }

  /** List Templates */
  listTemplates(query: { limit?: number; offset?: number } = {}): Promise<TemplatePage> {
    return this.transport.send<TemplatePage>({ method: "GET", path: `/api/v1/templates`, query, answer: "json" });
  }

  /** Publish Template */
  publishTemplate(body: TemplateRequest): Promise<TemplateRecord> {
    return this.transport.send<TemplateRecord>({ method: "POST", path: `/api/v1/templates`, body, answer: "json" });
  }

  /** Import Template */
  importTemplate(body: {
    file: Blob;
    /** The composition's name when left out. */
    name?: string;
    description?: string;
    /** The project's active composition when left out. */
    compId?: string;
    includeText?: "true" | "false";
  }): Promise<ImportedTemplate> {
    return this.transport.send<ImportedTemplate>({ method: "POST", path: `/api/v1/templates/import`, form: body, answer: "json" });
  }

  /** Get Template */
  getTemplate(id: string): Promise<TemplateRecord> {
    return this.transport.send<TemplateRecord>({ method: "GET", path: `/api/v1/templates/${encodeURIComponent(id)}`, answer: "json" });
  }

  /** Replace Template */
  replaceTemplate(id: string, body: ReplacementRequest): Promise<ImportedTemplate> {
    return this.transport.send<ImportedTemplate>({ method: "PUT", path: `/api/v1/templates/${encodeURIComponent(id)}`, body, answer: "json" });
  }

  /** Delete Template */
  deleteTemplate(id: string): Promise<Deleted> {
    return this.transport.send<Deleted>({ method: "DELETE", path: `/api/v1/templates/${encodeURIComponent(id)}`, answer: "json" });
  }

  /** Replace Template By Import */
  replaceTemplateByImport(id: string, body: {
    file: Blob;
    /** The composition's name when left out. */
    name?: string;
    description?: string;
    /** The project's active composition when left out. */
    compId?: string;
    includeText?: "true" | "false";
  }): Promise<ImportedTemplate> {
    return this.transport.send<ImportedTemplate>({ method: "PUT", path: `/api/v1/templates/${encodeURIComponent(id)}/import`, form: body, answer: "json" });
  }

  /** List Template Versions */
  listTemplateVersions(id: string, query: { limit?: number; offset?: number } = {}): Promise<VersionPage> {
    return this.transport.send<VersionPage>({ method: "GET", path: `/api/v1/templates/${encodeURIComponent(id)}/versions`, query, answer: "json" });
  }

  /** Restore Template Version */
  restoreTemplateVersion(id: string, version: number): Promise<ImportedTemplate> {
    return this.transport.send<ImportedTemplate>({ method: "POST", path: `/api/v1/templates/${encodeURIComponent(id)}/versions/${encodeURIComponent(version)}/restore`, answer: "json" });
  }

  /** Delete Template Version */
  deleteTemplateVersion(id: string, version: number): Promise<Deleted> {
    return this.transport.send<Deleted>({ method: "DELETE", path: `/api/v1/templates/${encodeURIComponent(id)}/versions/${encodeURIComponent(version)}`, answer: "json" });
  }

  /** Create Render */
  createRender(body: RenderRequest, idempotencyKey?: string): Promise<JobState> {
    return this.transport.send<JobState>({ method: "POST", path: `/api/v1/renders`, body, idempotencyKey: idempotencyKey ?? this.transport.newKey(), answer: "json" });
  }

  /** List Renders */
  listRenders(query: { limit?: number; offset?: number } = {}): Promise<JobPage> {
    return this.transport.send<JobPage>({ method: "GET", path: `/api/v1/renders`, query, answer: "json" });
  }

  /** Validate Render */
  validateRender(body: RenderRequest): Promise<Validation> {
    return this.transport.send<Validation>({ method: "POST", path: `/api/v1/renders/validate`, body, answer: "json" });
  }

  /** Get Render */
  getRender(id: string): Promise<JobRecord> {
    return this.transport.send<JobRecord>({ method: "GET", path: `/api/v1/renders/${encodeURIComponent(id)}`, answer: "json" });
  }

  /** Cancel Render */
  cancelRender(id: string): Promise<JobState> {
    return this.transport.send<JobState>({ method: "POST", path: `/api/v1/renders/${encodeURIComponent(id)}/cancel`, answer: "json" });
  }

  /** Download Render */
  downloadRender(id: string): Promise<Blob> {
    return this.transport.send<Blob>({ method: "GET", path: `/api/v1/renders/${encodeURIComponent(id)}/download`, answer: "file" });
  }

  /** Upload Asset */
  uploadAsset(body: {
    file: Blob;
  }): Promise<UploadRecord> {
    return this.transport.send<UploadRecord>({ method: "POST", path: `/api/v1/assets`, form: body, answer: "json" });
  }

  /** Get Usage */
  getUsage(): Promise<UsageRecord> {
    return this.transport.send<UsageRecord>({ method: "GET", path: `/api/v1/usage`, answer: "json" });
  }

  /** List Presets */
  listPresets(query: { limit?: number; offset?: number } = {}): Promise<PresetPage> {
    return this.transport.send<PresetPage>({ method: "GET", path: `/api/v1/animations`, query, answer: "json" });
  }

  /** Put Preset */
  putPreset(body: PresetRequest): Promise<PresetRecord> {
    return this.transport.send<PresetRecord>({ method: "POST", path: `/api/v1/animations`, body, answer: "json" });
  }

  /** Get Preset */
  getPreset(id: string): Promise<PresetRecord> {
    return this.transport.send<PresetRecord>({ method: "GET", path: `/api/v1/animations/${encodeURIComponent(id)}`, answer: "json" });
  }

  /** Delete Preset */
  deletePreset(id: string): Promise<Deleted> {
    return this.transport.send<Deleted>({ method: "DELETE", path: `/api/v1/animations/${encodeURIComponent(id)}`, answer: "json" });
  }

  /** Get Template Still */
  getTemplateStill(id: string, query: { time?: number; frame?: number; width?: number; format?: "png" | "jpeg" | "webp"; inputs?: string } = {}): Promise<Blob> {
    return this.transport.send<Blob>({ method: "GET", path: `/api/v1/templates/${encodeURIComponent(id)}/still`, query, answer: "file" });
  }

  /** Create Template Still */
  createTemplateStill(id: string, body: StillRequest): Promise<Blob> {
    return this.transport.send<Blob>({ method: "POST", path: `/api/v1/templates/${encodeURIComponent(id)}/still`, body, answer: "file" });
  }

  /** Get Render Thumbnail */
  getRenderThumbnail(id: string, query: { time?: number; width?: number; format?: "png" | "jpeg" | "webp"; sprite?: boolean } = {}): Promise<Blob> {
    return this.transport.send<Blob>({ method: "GET", path: `/api/v1/renders/${encodeURIComponent(id)}/thumbnail`, query, answer: "file" });
  }

  /** Create Batch */
  createBatch(body: BatchRequest, idempotencyKey?: string): Promise<BatchRecord> {
    return this.transport.send<BatchRecord>({ method: "POST", path: `/api/v1/batches`, body, idempotencyKey: idempotencyKey ?? this.transport.newKey(), answer: "json" });
  }

  /** Get Batch */
  getBatch(id: string, query: { limit?: number; offset?: number } = {}): Promise<BatchRecord> {
    return this.transport.send<BatchRecord>({ method: "GET", path: `/api/v1/batches/${encodeURIComponent(id)}`, query, answer: "json" });
  }

  /** Cancel Batch */
  cancelBatch(id: string): Promise<BatchCancelled> {
    return this.transport.send<BatchCancelled>({ method: "POST", path: `/api/v1/batches/${encodeURIComponent(id)}/cancel`, answer: "json" });
  }
}
