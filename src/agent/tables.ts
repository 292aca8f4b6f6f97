/** The tables of the agent service, and the ledger. */
import type { UIMessage } from 'ai';
import type { Generated, JSONColumnType } from 'kysely';
import type { LedgerTables } from '#accounts/ledger/credits.ts';
import type { UserEvent as SentEvent } from '#client/userevents.ts';
import type { Failure } from './api.ts';
import type { Period } from './budgets/api.ts';
import type { Ratio } from './providers/generators.ts';
import type { RunRecord as RunOfOperators } from './records/api.ts';

export type RunStatus = 'queued' | 'running' | 'completed' | 'failed' | 'aborted';

export type EndedStatus = Exclude<RunStatus, 'queued' | 'running'>;

/** The message of the user that a run answers, while it is not in the thread yet. */
export interface Question {
  readonly id: string;
  readonly parts: UIMessage['parts'];
  readonly metadata: Record<string, unknown>;
}

type Stored<Event> = Event extends SentEvent ? Omit<Event, 'id' | 'timestamp'> : never;
/** What users hear of their own account at `GET /events`, as the client reads it (docs/specification/agent.md#events). */
export type UserEvent = Stored<SentEvent>;

/** `words`: the first words of the thread, which a title of the model or of the user replaces. */
export type TitleSource = 'words' | 'model' | 'user';

/** What the start of a run sets for it. */
export interface RunOptions {
  /** Defaults of the tools. */
  readonly media?: {
    readonly imageModel?: string | undefined;
    readonly videoModel?: string | undefined;
    readonly ratio?: string | undefined;
    /** Of the images of one call. */
    readonly count?: number | undefined;
  };
  /** Neither reads nor changes memories. */
  readonly memory?: false;
  /** For the model, of a server. */
  readonly instructions?: string | undefined;
}

/** The request that started a run. */
export interface RunTrace {
  readonly requestId: string;
  readonly traceId: string;
}

/** How a run went, for operators. Its content is in the thread. */
export interface RunRecord {
  readonly steps: number;
  readonly tools: readonly string[];
  readonly timeline: readonly RunStep[];
  /** The images that it ordered. Absent: none. */
  readonly images?: RunImages | undefined;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly credits: number;
  readonly costUsd: number;
  readonly answeredBy?: string | undefined;
  readonly finishReason?: string | undefined;
  /** The failure in the words of the provider. */
  readonly answer?: string | undefined;
}

/** A call of the model, and the calls of tools that followed it. */
export type RunStep = RunOfOperators['timeline'][number];

export interface RunImages {
  readonly model: string | null;
  readonly count: number;
  readonly delivered: number;
  readonly credits: number;
  readonly costUsd: number;
  readonly failure: string | null;
  readonly code?: string | undefined;
  readonly answer: string | null;
}

export interface VideoInput {
  readonly prompt: string;
  readonly ratio: Ratio;
  /** Seconds. */
  readonly duration?: number | undefined;
  readonly seed?: number | undefined;
  /** Assets. */
  readonly firstFrame?: string | undefined;
  readonly references?: readonly string[] | undefined;
}

/** Who gave an order without a run. */
export type OrderOrigin = 'mcp' | 'api';
/** Who ordered a video. */
export type VideoOrigin = 'run' | OrderOrigin;

export interface ImageInput {
  readonly prompt: string;
  /** `undefined`: the ratio of the first reference. */
  readonly ratio?: Ratio | undefined;
  readonly seed?: number | undefined;
  readonly quality?: string | undefined;
  /** Assets. */
  readonly references: readonly string[];
  /** An asset, or a PNG as a `data:` URL, which is removed when the order ends. */
  readonly mask?: string | undefined;
}

export type GenerationStatus = 'running' | 'completed' | 'failed' | 'canceled';

/** `null`: the provider did not report it. */
export interface TokenUsage {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly totalTokens: number | null;
  readonly reasoningTokens: number | null;
  readonly cachedInputTokens: number | null;
}

interface UsageSums {
  runs: Generated<number>;
  input_tokens: Generated<number>;
  output_tokens: Generated<number>;
  credits: Generated<number>;
  cost_usd: Generated<number>;
}
interface FileSums {
  images: Generated<number>;
  videos: Generated<number>;
}

export interface AgentTables extends LedgerTables {
  agent_threads: {
    thread_id: string;
    owner_id: string;
    last_seq: Generated<number>;
    message_count: Generated<number>;
    message_bytes: Generated<number>;
    created_at: Generated<Date>;
    title: Generated<string>;
    title_source: Generated<TitleSource>;
    /** In milliseconds. */
    updated_at: Generated<Date>;
    deleting_at: Date | null;
    deletes_assets: Generated<boolean>;
    trashed_at: Generated<Date | null>;
    temporary: Generated<boolean>;
  };
  agent_runs: {
    task_id: string;
    thread_id: string;
    owner_id: string;
    message_id: string;
    status: RunStatus;
    error: string | null;
    error_code: string | null;
    abort_requested: Generated<boolean>;
    holder: string;
    lease_expires_at: Date;
    fence: Generated<number>;
    epoch_ms: number;
    created_at: Generated<Date>;
    updated_at: Generated<Date>;
    ended_at: Date | null;
    model: Generated<string>;
    credits: Generated<number>;
    /** How often the run was continued after its process had died. */
    restarts: Generated<number>;
    /** No process executes it: it was given up by a drain, or is claimed and has not begun yet. */
    handed_over: Generated<boolean>;
    /** Of a run that goes on in an earlier message: the events of its stream that repeat the message. */
    replayed: Generated<number | null>;
    /** These four: of a run that waits for the run in progress of its thread. */
    question: JSONColumnType<Question> | null;
    rewind_to: string | null;
    interrupts: Generated<boolean>;
    queued_at: Date | null;
    options: JSONColumnType<RunOptions> | null;
    trace: JSONColumnType<RunTrace | null, string | null | undefined>;
    record: JSONColumnType<RunRecord | null, string | null | undefined>;
  };
  agent_messages: {
    thread_id: string;
    id: string;
    resource_id: string;
    role: 'user' | 'assistant';
    parts: JSONColumnType<UIMessage['parts']>;
    metadata: JSONColumnType<Record<string, unknown>>;
    created_at: Generated<Date>;
    seq: number;
    bytes: number;
    /** The run that a question started, or that an answer is of. */
    task_id: string | null;
    search_text: Generated<string>;
  };
  agent_events: { task_id: string; first_seq: number; last_seq: number; events: string; is_last: boolean };
  agent_steps: {
    task_id: string;
    step: number;
    parts: JSONColumnType<UIMessage['parts']>;
    usage: JSONColumnType<TokenUsage>;
    answered_by: string | null;
  };
  agent_step_calls: {
    task_id: string;
    tool_call_id: string;
    name: string;
    is_finished: Generated<boolean>;
    output: JSONColumnType<{ readonly value: unknown }> | null;
    error: string | null;
  };
  agent_approvals: {
    approval_id: string;
    thread_id: string;
    owner_id: string;
    message_id: string;
    tool_call_id: string;
    state: Generated<'open' | 'approved' | 'denied'>;
    created_at: Generated<Date>;
    answered_at: Date | null;
  };
  agent_starts: {
    user_id: string;
    key: string;
    body_digest: string;
    task_id: string;
    thread_id: string;
    /** The run waited for another one. */
    queued: Generated<boolean>;
    created_at: Generated<Date>;
  };
  agent_videos: {
    video_id: string;
    resource_id: string;
    thread_id: string;
    task_id: string;
    message_id: string;
    tool_call_id: string;
    input: JSONColumnType<VideoInput>;
    status: 'queued' | 'processing' | 'completed' | 'failed';
    failure_code: string | null;
    failure_message: string | null;
    attempt: Generated<number>;
    provider_id: string | null;
    asset_id: string | null;
    thumb_asset_id: string | null;
    created_at: Generated<Date>;
    updated_at: Generated<Date>;
    model: Generated<string>;
    /** Since when it has a job. */
    started_at: Date | null;
    /** Since when its order may have reached the provider. */
    ordered_at: Date | null;
    credits: Generated<number>;
    /** Of the catalogue. */
    media_model: string | null;
    origin: Generated<VideoOrigin>;
    price: Generated<number>;
    scope_kind: string | null;
    scope_id: string | null;
    /** In US dollars. */
    cost_usd: number | null;
    trace: JSONColumnType<RunTrace | null, string | null | undefined>;
    /** The failure in the words of the provider. */
    answer: Generated<string | null>;
  };
  agent_generations: {
    generation_id: string;
    owner_id: string;
    origin: Generated<OrderOrigin>;
    model: string;
    price: number;
    input: JSONColumnType<ImageInput>;
    scope_kind: string;
    scope_id: string;
    status: GenerationStatus;
    credits: number | null;
    ordered_at: Date | null;
    created_at: Generated<Date>;
    ended_at: Date | null;
  };
  agent_generation_items: {
    generation_id: string;
    index: number;
    status: GenerationStatus;
    asset_id: string | null;
    failure: JSONColumnType<Failure> | null;
    /** The failure in the words of the provider. */
    answer: Generated<string | null>;
  };
  agent_image_costs: {
    reference: string;
    scope: string;
    cost_usd: number | null;
    model: string | null;
    answer: Generated<string | null>;
  };
  agent_usage: UsageSums & FileSums & { user_id: string; day: string; model: string };
  agent_usage_totals: UsageSums & FileSums & { day: string; model: string; plan: string; slot: number };
  agent_usage_months: UsageSums & { user_id: string; month: string };
  agent_budgets: { period: Period; budget_usd: number | null; changed_at: Generated<Date> };
  agent_budgets_reached: {
    period: Period;
    starts_on: string;
    percent: number;
    budget_usd: number;
    spent_usd: number;
  };
  agent_free_cancels: { user_id: string; day: string; count: number };
  agent_user_events: {
    user_id: string;
    seq: number;
    event: JSONColumnType<UserEvent>;
    created_at: Generated<Date>;
  };
  agent_user_event_positions: { user_id: string; last_seq: number };
  agent_unreadable_documents: { sha256: string; created_at: Generated<Date> };
  /** `sealed_key`: the private key as a JWK. */
  agent_signing_keys: { kid: string; sealed_key: string; created_at: Generated<Date> };
}
