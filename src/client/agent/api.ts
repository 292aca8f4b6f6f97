/** The vocabulary of the agent service. Generated from its OpenAPI document by `npm run generate`. */

export interface TaskRequest {
  readonly threadId: string;
  readonly message?: UserMessage | null;
  /** A short form for a message with a single text. */
  readonly text?: string | null;
  /** A message of the thread. This message and all later ones are dropped. */
  readonly rewindTo?: string | null;
  readonly model?: string | null;
  /** If the thread has a run in progress. `reject` (default): 409. `queue`: the run starts after it. `interrupt`: that run is stopped first. */
  readonly whenBusy?: 'reject' | 'queue' | 'interrupt';
  /** Answers to tool calls that wait for approval. The run continues in their message. */
  readonly approvals?:
    | readonly {
        readonly approvalId: string;
        readonly approved: boolean;
        /** Sent to the model. */
        readonly reason?: string | null;
      }[]
    | null;
  readonly media?: {
    /** An id of `GET /models`. */ readonly imageModel?: string | null;
    /** An id of `GET /models`. */
    readonly videoModel?: string | null;
    /** Used by the models that have it. `auto`: none. */
    readonly ratio?: 'auto' | '1:1' | '4:3' | '3:4' | '16:9' | '9:16' | null;
    /** The number of images of a call. Default: 1. */
    readonly count?: number | null;
  } | null;
  /** `false`: the run neither reads nor changes the memories of the user, and nothing is remembered from it. */
  readonly memory?: boolean | null;
  /** `true` begins a temporary thread: its runs have no memory, no listing shows it, and it is deleted 24 hours after its last message. Its assets stay. An existing thread stays as it was begun; the other value returns 400. */
  readonly temporary?: boolean | null;
  /** Only with X-Internal-Key: for the model, in addition to AGENT_INSTRUCTIONS. Not stored in messages. */
  readonly instructions?: string | null;
  /** Required with X-Internal-Key. */
  readonly userId?: string;
}

export interface StartedTask {
  readonly taskId: string;
  readonly threadId: string;
  /** The run starts when the run in progress has ended. */
  readonly queued?: true;
  /** After `approvals`: where the stream continues for a client that has the message. Before it, the stream repeats the message. */
  readonly lastEventId?: string;
}

export interface TaskInfo {
  readonly taskId: string;
  readonly threadId: string;
  readonly userId: string;
  readonly status: 'queued' | 'running' | 'completed' | 'failed' | 'aborted';
  readonly createdAt: string;
  readonly updatedAt: string;
  /** The reason of the failure. */
  readonly error: string | null;
  /** `empty_answer`: the model returned nothing. Absent for other failures. */
  readonly errorCode?: string;
}

export interface CurrentTaskQuery {
  /** With X-Internal-Key: must own the thread. */ readonly userId?: string;
  /** `true`: also return `failed`. */
  readonly failed?: boolean | 'true' | 'false';
}

export interface CurrentTask {
  readonly task: TaskInfo | null;
  /** The runs that wait, in their order, with their messages. Absent if there are none. */
  readonly queued?: readonly {
    readonly taskId: string;
    readonly threadId: string;
    readonly userId: string;
    readonly status: 'queued' | 'running' | 'completed' | 'failed' | 'aborted';
    readonly createdAt: string;
    readonly updatedAt: string;
    /** The reason of the failure. */
    readonly error: string | null;
    /** `empty_answer`: the model returned nothing. Absent for other failures. */
    readonly errorCode?: string;
    readonly message: {
      readonly id: string;
      readonly role: 'user';
      readonly parts: readonly { readonly type: string; readonly [key: string]: unknown }[];
      readonly metadata: Readonly<Record<string, unknown>>;
    };
  }[];
  /** On request: the newest run that ended, if it failed and none is in progress. */
  readonly failed?: TaskInfo;
  /** The thread is deleted 24 hours after its last message. Absent for other threads. */
  readonly temporary?: true;
}

export interface MessagePaging {
  /** 1 to 200. If absent, all messages are returned. */ readonly limit?: number;
  /** A message of the thread; the page ends before this message. Without `limit`, the page has up to 200 messages. */
  readonly before?: string;
  /** With X-Internal-Key: must own the thread. */
  readonly userId?: string;
}

export interface ThreadMessages {
  /** v5 UIMessages, oldest first. */ readonly messages: readonly ThreadMessage[];
}

export interface ModelListing {
  readonly kind?: 'chat' | 'image' | 'video';
}

export interface ModelList {
  readonly models: readonly {
    readonly kind: 'chat' | 'image' | 'video';
    readonly id: string;
    readonly label: string;
    /** Whether the plan of the user includes the model. */
    readonly allowed: boolean;
    /** The first of its kind. */
    readonly default: boolean;
    /** For language models: whether the model reads images. */
    readonly vision?: boolean;
    /** For language models: whether the model calls tools. */
    readonly tools?: boolean;
    /** The price of a run, an image or a video. */
    readonly credits: number;
    /** For image and video models. */
    readonly ratios?: readonly string[];
    /** For image and video models: the highest `n` of one generation. */
    readonly maxCount?: number;
    /** For image and video models. */
    readonly maxReferences?: number;
    /** For image and video models: the optional fields of an order that the model accepts. */
    readonly options?: readonly ('seed' | 'quality' | 'mask' | 'firstFrame')[];
    /** In seconds. Empty: the model decides. */
    readonly durations?: readonly number[];
  }[];
}

export interface UsageRange {
  /** The first day, in UTC. Default: 30 days before `to`. */ readonly from?: string;
  /** The last day, included. Default: today. */
  readonly to?: string;
  /** Required with X-Internal-Key. */
  readonly userId?: string;
}

export interface UsageDays {
  readonly days: readonly {
    readonly day: string;
    readonly model: string;
    readonly runs: number;
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly images: number;
    readonly videos: number;
    readonly credits: number;
  }[];
}

export interface CreditsOwner {
  /** Required with X-Internal-Key. */ readonly userId?: string;
}

export interface CreditsState {
  readonly plan: 'free' | 'basic' | 'basic_year' | 'pro' | 'pro_year' | 'max' | 'max_year';
  readonly credits: number;
  readonly prices: {
    /** With the default model. */ readonly run: number;
    readonly image: number;
    readonly video: number;
  };
}

export interface VideosRetried {
  readonly success: true;
}

export interface LibraryNews {
  readonly userId: string;
  readonly type: 'library.changed' | 'memory.changed';
}

export interface ConfiguredModels {
  readonly models: readonly {
    readonly id: string;
    readonly label: string;
    readonly vision: boolean;
    readonly tools: boolean;
    /** The price of a run in credits. */
    readonly credits: number;
    readonly contextTokens: number;
    /** The plans that include it; null: all. */
    readonly plans: readonly ('free' | 'basic' | 'basic_year' | 'pro' | 'pro_year' | 'max' | 'max_year')[] | null;
    /** The model that is used if this one fails. */
    readonly fallback: string | null;
    /** The cost of a million tokens at the provider, in US dollars. `null`: not configured. */
    readonly costUsd: { readonly input: number; readonly output: number } | null;
    /** The offline model. */
    readonly simulated: boolean;
    readonly default: boolean;
  }[];
  /** The models of images, then those of videos. */
  readonly media: readonly {
    readonly kind: 'image' | 'video';
    readonly id: string;
    readonly label: string;
    /** The price of one image or video in credits. */
    readonly credits: number;
    /** The plans that include it. */
    readonly plans: readonly ('free' | 'basic' | 'basic_year' | 'pro' | 'pro_year' | 'max' | 'max_year')[];
    /** The model that is used if this one fails. */
    readonly fallback: string | null;
    /** The cost of one at the provider, in US dollars. `null`: not configured. */
    readonly costUsd: number | null;
    /** The first of its kind. */
    readonly default: boolean;
  }[];
  readonly plans: readonly {
    readonly plan: 'free' | 'basic' | 'basic_year' | 'pro' | 'pro_year' | 'max' | 'max_year';
    readonly hasVideo: boolean;
  }[];
  /** In credits. */
  readonly prices: { readonly image: number; readonly video: number };
}

export interface UsageTotalsRange {
  /** The first day, in UTC. Default: 30 days before `to`. */ readonly from?: string;
  /** The last day, included. Default: today. */
  readonly to?: string;
}

export interface UsageTotals {
  /** Models of images and videos. Images of a run count while the run is stored. */
  readonly media: readonly {
    readonly kind: 'image' | 'video';
    readonly model: string;
    /** Orders that have ended. All images of a run are one. */
    readonly orders: number;
    /** Orders that delivered nothing. */
    readonly failed: number;
    /** Images or videos. */
    readonly delivered: number;
    readonly credits: number;
    /** `null`: no price is set. */
    readonly costUsd: number | null;
    /** The mean time of an order that delivered something. `null`: only runs ordered. */
    readonly meanMs: number | null;
  }[];
  readonly days: readonly {
    readonly day: string;
    readonly model: string;
    /** The plan of the users when they used it. */
    readonly plan: string;
    readonly runs: number;
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly credits: number;
    /** The cost at the providers, by `costUsd` of the models, in US dollars. */
    readonly costUsd: number;
    readonly images: number;
    readonly videos: number;
  }[];
}

export interface SpenderListing {
  /** In UTC. Default: the current month. */ readonly month?: string;
  /** Which users come first. */
  readonly order?: 'credits' | 'cost';
  readonly limit?: number;
}

export interface Spenders {
  readonly month: string;
  /** Users who spent the most credits, or cost the most, come first. */
  readonly users: readonly {
    readonly userId: string;
    readonly runs: number;
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly credits: number;
    /** The cost at the providers, by `costUsd` of the models, in US dollars. */
    readonly costUsd: number;
    readonly images: number;
    readonly videos: number;
  }[];
}

export interface UserUsageRange {
  /** The first day, in UTC. Default: 30 days before `to`. */ readonly from?: string;
  /** The last day, included. Default: today. */
  readonly to?: string;
}

export interface UserUsage {
  readonly days: readonly {
    readonly day: string;
    readonly model: string;
    readonly runs: number;
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly credits: number;
    /** The cost at the providers, by `costUsd` of the models, in US dollars. */
    readonly costUsd: number;
    readonly images: number;
    readonly videos: number;
  }[];
}

export interface BudgetList {
  /** Budgets that are set. */
  readonly budgets: readonly {
    readonly period: 'day' | 'month';
    /** The first day of the current day or month, in UTC. */
    readonly start: string;
    /** In US dollars. */
    readonly budgetUsd: number;
    /** When an operator set it. `null`: it comes from the setting. */
    readonly changedAt: string | null;
    /** The sum of `costUsd` in the period, in US dollars. */
    readonly spentUsd: number;
    /** The part of the budget that is spent, rounded down. It can be above 100. */
    readonly percent: number;
  }[];
}

export interface BudgetChange {
  /** In US dollars. `null`: no budget. */ readonly budgetUsd: number | null;
}

export interface ThreadListing {
  /** 1 to 200. Default: 50. */ readonly limit?: number;
  /** The `next_cursor` of the previous page. */
  readonly cursor?: string;
  /** Words that must all occur in the title or the texts of the thread. */
  readonly q?: string;
  /** `true`: only threads in the trash, which no other listing has. */
  readonly trashed?: 'true';
  /** Required with X-Internal-Key. */
  readonly userId?: string;
}

export interface ThreadPage {
  readonly threads: readonly Thread[];
  readonly next_cursor: string | null;
}

export interface ThreadsDeletion {
  /** Required with X-Internal-Key. */ readonly userId?: string;
  /** `true`: also delete the assets of the thread. */
  readonly assets?: boolean | 'true' | 'false';
}

export interface ThreadOwner {
  /** With X-Internal-Key: must own the thread. */ readonly userId?: string;
}

export interface Thread {
  readonly threadId: string;
  readonly title: string;
  readonly createdAt: string;
  /** When the last message was added. */
  readonly updatedAt: string;
  readonly messageCount: number;
  readonly runningTaskId: string | null;
  /** Since when it is in the trash. */
  readonly trashedAt: string | null;
  /** The thread is deleted 24 hours after its last message. Absent for other threads. */
  readonly temporary?: true;
}

export interface ThreadChange {
  /** Required without `trashed` and `temporary`. */ readonly title?: string;
  /** `true`: into the trash, from which it is deleted after 30 days. `false`: back out of it. */
  readonly trashed?: boolean;
  /** `false`: keeps a temporary thread, which is listed then. */
  readonly temporary?: false;
  /** As in the query. */
  readonly userId?: string;
}

export interface ThreadDeletion {
  /** With X-Internal-Key: must own the thread. */ readonly userId?: string;
  /** `true`: also delete the assets of the thread. */
  readonly assets?: boolean | 'true' | 'false';
}

export interface ThreadBranches {
  /** The messages of the thread that have other versions, in their order. */
  readonly forks: readonly {
    /** The message with which the versions begin to differ. */ readonly messageId: string;
    /** All versions, oldest first, with the one that is shown. */
    readonly branches: readonly {
      /** `null`: the version that the thread shows. */ readonly branchId: string | null;
      /** When it was replaced. `null`: it is shown. */
      readonly createdAt: string | null;
    }[];
  }[];
}

export interface ReplacedListing {
  /** With X-Internal-Key: must own the thread. */ readonly userId?: string;
  readonly cursor?: string;
}

export interface ReplacedMessages {
  readonly messages: readonly {
    readonly branchId: string;
    readonly id: string;
    readonly role: 'user' | 'assistant';
    /** As they were stored, without URLs. */
    readonly parts: readonly unknown[];
    readonly createdAt: string;
  }[];
  readonly next_cursor: string | null;
}

export interface ThreadCounts {
  readonly threads: number;
  readonly messages: number;
  /** Runs in progress. */
  readonly running: number;
}

export interface ErasedThreads {
  /** The number of removed records of each kind. */ readonly removed: Readonly<Record<string, number>>;
}

export interface RunListing {
  /** Only those of this user. */ readonly userId?: string;
  readonly model?: string;
  /** A part of the request, the prompt or the error; a complete id of the run, request or trace; or the start of an email address. */
  readonly q?: string;
  /** The first day, in UTC. */
  readonly from?: string;
  /** The last day, included. */
  readonly to?: string;
  readonly limit?: number;
  /** The `next_cursor` of the previous page. */
  readonly cursor?: string;
  readonly status?: 'queued' | 'running' | 'completed' | 'failed' | 'aborted';
  readonly threadId?: string;
}

export interface RunPage {
  readonly runs: readonly RunRecord[];
  readonly next_cursor: string | null;
}

export interface FailureRange {
  /** The first day, in UTC. */ readonly from: string;
}

export interface FailureCounts {
  /** User id → failed runs. */ readonly failures: Readonly<Record<string, number>>;
}

export interface RunRecord {
  readonly taskId: string;
  readonly threadId: string;
  readonly userId: string;
  readonly status: 'queued' | 'running' | 'completed' | 'failed' | 'aborted';
  readonly model: string;
  /** The fallback that answered. */
  readonly answeredBy: string | null;
  /** `max-steps`: stopped at AGENT_MAX_STEPS. `null`: not known. */
  readonly finishReason: string | null;
  /** The failure, as the user sees it. */
  readonly error: string | null;
  readonly errorCode: string | null;
  /** The failure in the words of the provider. */
  readonly answer: string | null;
  readonly createdAt: string;
  readonly endedAt: string | null;
  /** How often another process continued it. */
  readonly restarts: number;
  /** Calls of the model. `null`: not known. */
  readonly steps: number | null;
  /** The tools that were called, in order. */
  readonly tools: readonly string[];
  /** The steps of a run that has ended. */
  readonly timeline: readonly {
    /** The response of the model, without its tools. `null`: not measured. */ readonly tookMs: number | null;
    readonly inputTokens: number | null;
    readonly outputTokens: number | null;
    /** The failure as the user sees it, if the run failed at this step. */
    readonly failure: string | null;
    readonly calls: readonly {
      readonly name: string;
      readonly tookMs: number | null;
      /** As the model and the user see it. */
      readonly failure: string | null;
      /** The code of the failure. */
      readonly code?: string;
      /** The failure in the words of the provider. */
      readonly answer: string | null;
    }[];
  }[];
  /** The first 300 characters of the message. `null`: the thread is temporary or deleted, or the message was replaced. */
  readonly request: string | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  /** All that was charged, with its videos so far. `null`: it has not ended. */
  readonly credits: number | null;
  /** The cost for the operator, in US dollars. */
  readonly costUsd: number | null;
  readonly requestId: string | null;
  readonly traceId: string | null;
}

export interface TitlesQuery {
  /** Thread ids, separated by commas; at most 100. */ readonly ids: string;
}

export interface Titles {
  /** Id → title, of the threads that exist. Temporary ones are left out. */
  readonly titles: Readonly<Record<string, string>>;
}

export interface GenerationRecordListing {
  /** Only those of this user. */ readonly userId?: string;
  readonly model?: string;
  /** A part of the request, the prompt or the error; a complete id of the run, request or trace; or the start of an email address. */
  readonly q?: string;
  /** The first day, in UTC. */
  readonly from?: string;
  /** The last day, included. */
  readonly to?: string;
  readonly limit?: number;
  /** The `next_cursor` of the previous page. */
  readonly cursor?: string;
  /** `refused`: the user needed more credits or another plan. */
  readonly status?: 'running' | 'completed' | 'failed' | 'canceled' | 'refused';
  readonly kind?: 'image' | 'video';
  /** Only this one. */
  readonly id?: string;
  /** Only what this run ordered. */
  readonly taskId?: string;
}

export interface GenerationRecordPage {
  readonly generations: readonly {
    /** The id of the run, if a run ordered the images. */ readonly id: string;
    readonly kind: 'image' | 'video';
    readonly userId: string;
    /** The run that ordered it. */
    readonly taskId: string | null;
    /** The first prompt. `null`: the thread is temporary or deleted. */
    readonly prompt: string | null;
    /** The delivered files. */
    readonly assetIds: readonly string[];
    /** `null`: none was ordered. */
    readonly ratio: string | null;
    /** The files to start from. Without those of runs. */
    readonly references: readonly string[];
    readonly model: string;
    /** `refused`: the user needed more credits or another plan. */
    readonly status: 'running' | 'completed' | 'failed' | 'canceled' | 'refused';
    /** Ordered images or videos. */
    readonly count: number;
    readonly delivered: number;
    /** The charged credits. `null`: it has not ended. */
    readonly credits: number | null;
    readonly costUsd: number | null;
    /** The first failure, as the user sees it. */
    readonly failure: string | null;
    readonly failureCode: string | null;
    /** The first failure in the words of the provider. */
    readonly answer: string | null;
    /** The price of a refused order, in credits. `null`: not refused, or not known. */
    readonly required: number | null;
    /** The credits of the user when it was refused. `null`: as for `required`. */
    readonly balance: number | null;
    /** In credits, of one image or video. `null`: a run ordered images. */
    readonly price: number | null;
    /** The other fields of the order, such as `seed`. */
    readonly parameters: Readonly<Record<string, unknown>>;
    readonly createdAt: string;
    /** Since when the provider may have it. `null`: not, or not known. */
    readonly orderedAt: string | null;
    readonly endedAt: string | null;
    /** If a run ordered images, the time of its calls of tools. `null`: not measured. */
    readonly tookMs: number | null;
    readonly requestId: string | null;
    readonly traceId: string | null;
  }[];
  readonly next_cursor: string | null;
}

export interface ImagesRequest {
  readonly prompt: string;
  /** An id of `GET /models`. Default: the first of its kind. */
  readonly model?: string | null;
  readonly seed?: number | null;
  /** Images of the library, as `asset:<id>`. */
  readonly references?: readonly string[] | null;
  /** As a home card has them: images at a host of CMS_MEDIA_HOSTS. They become assets of the user, and references. */
  readonly inputMedias?: readonly { readonly type: string; readonly url: string }[] | null;
  /** Where the assets are stored. Default: `generation`. */
  readonly scopeKind?: string | null;
  /** Default: the id of the generation. */
  readonly scopeId?: string | null;
  /** Required with X-Internal-Key. */
  readonly userId?: string;
  /** The number of images. Default: 1. */
  readonly n?: number | null;
  /** Default: `1:1`, or the ratio of the first reference. */
  readonly ratio?: string | null;
  readonly quality?: string | null;
  /** A PNG. Its transparent pixels are the part of the first reference to change. */
  readonly mask?: string | null;
}

export interface Generation {
  readonly id: string;
  readonly kind: 'image' | 'video';
  /** `completed`: at least one item is. */
  readonly status: 'running' | 'completed' | 'failed' | 'canceled';
  readonly origin: 'api' | 'run' | 'mcp';
  /** The run or the tool call that ordered it. */
  readonly taskId?: string;
  readonly prompt: string;
  readonly model: string;
  /** The ids of the images that it is made from, beginning with the first frame. */
  readonly references: readonly string[];
  /** The seconds of a video. Absent: the model decides. */
  readonly duration?: number;
  /** Reserved while it runs, charged when it has ended. */
  readonly credits: number;
  readonly items: readonly {
    readonly index: number;
    readonly status: 'running' | 'completed' | 'failed' | 'canceled';
    readonly assetId: string | null;
    readonly url: string | null;
    readonly mime: string | null;
    readonly width: number | null;
    readonly height: number | null;
    readonly failure: {
      readonly code: string;
      readonly message: string;
      readonly retryable: boolean;
      readonly required?: number;
      readonly balance?: number;
    } | null;
  }[];
  readonly createdAt: string;
  readonly endedAt: string | null;
}

export interface VideosRequest {
  readonly prompt: string;
  /** An id of `GET /models`. Default: the first of its kind. */
  readonly model?: string | null;
  readonly seed?: number | null;
  /** Images of the library, as `asset:<id>`. */
  readonly references?: readonly string[] | null;
  /** As a home card has them: images at a host of CMS_MEDIA_HOSTS. They become assets of the user, and references. */
  readonly inputMedias?: readonly { readonly type: string; readonly url: string }[] | null;
  /** Where the assets are stored. Default: `generation`. */
  readonly scopeKind?: string | null;
  /** Default: the id of the generation. */
  readonly scopeId?: string | null;
  /** Required with X-Internal-Key. */
  readonly userId?: string;
  /** Default: `16:9`. */
  readonly ratio?: string | null;
  /** Seconds. Default: the model decides. */
  readonly duration?: number | null;
  /** The image that the video starts with, as `asset:<id>`. */
  readonly firstFrame?: string | null;
}

export interface GenerationListing {
  readonly kind?: 'image' | 'video' | null;
  readonly status?: 'running' | 'completed' | 'failed' | 'canceled' | null;
  /** 1 to 100. Default: 20. */
  readonly limit?: number;
  /** The `next_cursor` of the previous page. */
  readonly cursor?: string | null;
  /** Required with X-Internal-Key. */
  readonly userId?: string;
}

export interface GenerationPage {
  /** Newest first. */ readonly generations: readonly Generation[];
  /** `null`: this was the last page. */
  readonly next_cursor: string | null;
}

export interface UserMessage {
  /** Generated if absent. If the thread already has the id, the response is 409 `message_exists`. */
  readonly id?: string;
  readonly role: 'user';
  readonly parts: readonly (
    | { readonly type: 'text'; readonly text: string }
    | {
        readonly type: 'file';
        /** Parameters, such as `;codecs=opus`, are dropped. */
        readonly mediaType: string;
        readonly filename?: string | null;
        /** `asset:<assetId>` refers to a file of the library, whose URL is signed when messages are read. `blob:` needs `atelier.assetId`. */
        readonly url: string;
        /** As `GET /messages` returns it: `atelier.assetId` identifies the asset, regardless of the URL. */
        readonly providerMetadata?: {
          readonly atelier?: { readonly assetId?: string; readonly [key: string]: unknown };
          readonly [key: string]: unknown;
        } | null;
      }
  )[];
  readonly metadata?: Readonly<Record<string, unknown>> | null;
}

export interface ThreadMessage {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly parts: readonly { readonly type: string; readonly [key: string]: unknown }[];
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The owner. */
  readonly resource_id: string;
}
