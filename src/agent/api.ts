/** The agent service's vocabulary (docs/specification/agent.md). */
import { z } from 'zod';
import { plan } from '#accounts/api.ts';
import { findUnstorable } from '#platform/storable.ts';
import { pageSize, wholeNumber } from '#platform/wholenumber.ts';
import { ratio } from './providers/generators.ts';

const isStorable = (value: unknown) => findUnstorable(value, '') === undefined;

export const threadId = z.string().regex(/^[A-Za-z0-9_-]{1,128}$/, 'must be 1 to 128 characters of A-Z a-z 0-9 _ -');
export const messageId = z.string().regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 visible ASCII characters');

const textPart = z.object({ type: z.literal('text'), text: z.string() });
const fileUrl = 'must be an http(s) URL, data in base64, or asset: and an assetId';
const filePart = z
  .object({
    type: z.literal('file'),
    mediaType: z
      .string()
      .regex(/^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(?:\s*;[^,]{0,200})?$/, 'must be a media type such as image/png')
      .describe('Parameters, such as `;codecs=opus`, are dropped.'),
    filename: z.string().max(255).nullish(),
    url: z
      .string()
      .regex(
        /^(https?:\/\/[^/\s]|data:[\w.+-]+\/[\w.+-]+(?:;[^,;]{1,200}){0,8};base64,|blob:|asset:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$)/i,
        fileUrl,
      )
      .describe(
        '`asset:<assetId>` refers to a file of the library, whose URL is signed when messages are read. `blob:` needs `atelier.assetId`.',
      ),
    providerMetadata: z
      .looseObject({ atelier: z.looseObject({ assetId: z.guid().optional() }).optional() })
      .nullish()
      .catch(undefined)
      .describe('As `GET /messages` returns it: `atelier.assetId` identifies the asset, regardless of the URL.'),
  })
  // A page shows a photo from its own memory while the message is sent.
  .refine(({ url, providerMetadata }) => !/^blob:/i.test(url) || providerMetadata?.atelier?.assetId !== undefined, {
    path: ['url'],
    message: fileUrl,
  });

/** A v5 `UIMessage` of role `user`. */
export const userMessage = z
  .object({
    id: messageId
      .optional()
      .describe('Generated if absent. If the thread already has the id, the response is 409 `message_exists`.'),
    role: z.literal('user'),
    parts: z
      .array(z.discriminatedUnion('type', [textPart, filePart]))
      .min(1)
      .max(100),
    metadata: z.record(z.string(), z.unknown()).nullish(),
  })
  .refine(isStorable, 'must not contain NUL or lone surrogates')
  .refine(({ parts }) => parts.some(speaks), { path: ['parts'], message: 'must contain a text or a file' });

function speaks(part: { type: string; text?: string | undefined }): boolean {
  return part.type === 'file' || (part.type === 'text' && part.text?.trim() !== '');
}

export const whenBusy = z
  .enum(['reject', 'queue', 'interrupt'])
  .optional()
  .describe(
    'If the thread has a run in progress. `reject` (default): 409. `queue`: the run starts after it. `interrupt`: that run is stopped first.',
  );

export const approvalAnswer = z.object({
  approvalId: z.string().min(1).max(128),
  approved: z.boolean(),
  reason: z
    .string()
    .max(1000)
    .refine(isStorable, 'must not contain NUL or lone surrogates')
    .nullish()
    .describe('Sent to the model.'),
});
export type ApprovalAnswer = z.output<typeof approvalAnswer>;
/** Defaults for the tools of one run. */
export const runMedia = z
  .object({
    imageModel: z.string().min(1).max(128).nullish().transform(orAbsent).describe('An id of `GET /models`.'),
    videoModel: z.string().min(1).max(128).nullish().transform(orAbsent).describe('An id of `GET /models`.'),
    ratio: z
      .enum(['auto', ...ratio.options])
      .nullish()
      .transform((value) => (value === 'auto' ? undefined : orAbsent(value)))
      .describe('Used by the models that have it. `auto`: none.'),
    count: z.int().min(1).max(4).nullish().transform(orAbsent).describe('The number of images of a call. Default: 1.'),
  })
  .describe('The models, the ratio and the number of images and videos, unless a tool call names others.');
function orAbsent<T>(value: T | null | undefined): T | undefined {
  return value ?? undefined;
}

export const temporary = z
  .boolean()
  .nullish()
  .describe(
    '`true` begins a temporary thread: its runs have no memory, no listing shows it, and it is deleted 24 hours after its last message. Its assets stay. An existing thread stays as it was begun; the other value returns 400.',
  );

export const taskRequest = z
  .object({
    threadId,
    message: userMessage.nullish(),
    text: z
      .string()
      .refine(isStorable, 'must not contain NUL or lone surrogates')
      .refine((text) => text.trim() !== '', 'must not be empty')
      .nullish()
      .describe('A short form for a message with a single text.'),
    rewindTo: z
      .string()
      .min(1)
      .max(128)
      .refine(isStorable, 'must not contain NUL or lone surrogates')
      .nullish()
      .describe('A message of the thread. This message and all later ones are dropped.'),
    model: z.string().min(1).max(128).nullish(),
    whenBusy,
    approvals: z
      .array(approvalAnswer)
      .min(1)
      .max(100)
      .nullish()
      .describe('Answers to tool calls that wait for approval. The run continues in their message.'),
    media: runMedia.nullish(),
    memory: z
      .boolean()
      .nullish()
      .describe(
        '`false`: the run neither reads nor changes the memories of the user, and nothing is remembered from it.',
      ),
    temporary,
    instructions: z
      .string()
      .min(1)
      .max(8000)
      .refine(isStorable, 'must not contain NUL or lone surrogates')
      .nullish()
      .describe('Only with X-Internal-Key: for the model, in addition to AGENT_INSTRUCTIONS. Not stored in messages.'),
    // With a token it is an unknown field, which is ignored (docs/specification/http.md#requests).
    userId: z
      .unknown()
      .optional()
      .meta({ type: 'string', format: 'uuid', description: 'Required with X-Internal-Key.' }),
  })
  .refine(({ message, text, approvals }) => isGiven(approvals) || isGiven(message) || isGiven(text), {
    path: ['message'],
    message: 'is required if there is no text',
  })
  .refine(({ message, text }) => !(isGiven(message) && isGiven(text)), {
    path: ['text'],
    message: 'must not be sent together with message',
  })
  .refine(({ message, text, rewindTo, approvals }) => !isGiven(approvals) || ![message, text, rewindTo].some(isGiven), {
    path: ['approvals'],
    message: 'must not be sent together with a message',
  });
const isGiven = (value: unknown) => value !== undefined && value !== null;
export const namedUser = z.guid().toLowerCase();
export type TaskRequest = z.output<typeof taskRequest>;

export const taskInfo = z.object({
  taskId: z.string(),
  threadId: z.string(),
  userId: z.string(),
  status: z.enum(['queued', 'running', 'completed', 'failed', 'aborted']),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  error: z.string().nullable().describe('The reason of the failure.'),
  errorCode: z.string().optional().describe('`empty_answer`: the model returned nothing. Absent for other failures.'),
});
export type TaskInfo = z.output<typeof taskInfo>;

export const startedTask = z.object({
  taskId: z.string(),
  threadId: z.string(),
  queued: z.literal(true).optional().describe('The run starts when the run in progress has ended.'),
  lastEventId: z
    .string()
    .optional()
    .describe(
      'After `approvals`: where the stream continues for a client that has the message. Before it, the stream repeats the message.',
    ),
});

const parts = z.array(z.looseObject({ type: z.string() }));
const isTemporary = z
  .literal(true)
  .optional()
  .describe('The thread is deleted 24 hours after its last message. Absent for other threads.');
const queuedTask = taskInfo.extend({
  message: z.object({
    id: z.string(),
    role: z.literal('user'),
    parts,
    metadata: z.record(z.string(), z.unknown()),
  }),
});
export const currentTask = z.object({
  task: taskInfo.nullable(),
  queued: z
    .array(queuedTask)
    .optional()
    .describe('The runs that wait, in their order, with their messages. Absent if there are none.'),
  failed: taskInfo.optional().describe('On request: the newest run that ended, if it failed and none is in progress.'),
  temporary: isTemporary,
});
export type CurrentTask = z.output<typeof currentTask>;

const message = z.object({
  id: z.string(),
  role: z.enum(['user', 'assistant']),
  parts,
  metadata: z.record(z.string(), z.unknown()),
  resource_id: z.string().describe('The owner.'),
});
/** The first page ends with the thread's newest message. */
export const messagePaging = z.object({
  limit: wholeNumber(1, 200).optional().describe('1 to 200. If absent, all messages are returned.'),
  before: z
    .string()
    .min(1)
    .max(128)
    .refine(isStorable, 'must not contain NUL or lone surrogates')
    .optional()
    .describe(
      'A message of the thread; the page ends before this message. Without `limit`, the page has up to 200 messages.',
    ),
  userId: z.string().optional().describe('With X-Internal-Key: must own the thread.'),
});
export type MessagePaging = z.output<typeof messagePaging>;
export const threadMessages = z.object({ messages: z.array(message).describe('v5 UIMessages, oldest first.') });

const offer = {
  id: z.string(),
  label: z.string(),
  allowed: z.boolean().describe('Whether the plan of the user includes the model.'),
  default: z.boolean().describe('The first of its kind.'),
};
export const modelInfo = z.object({
  kind: z.enum(['chat', 'image', 'video']),
  ...offer,
  vision: z.boolean().optional().describe('For language models: whether the model reads images.'),
  tools: z.boolean().optional().describe('For language models: whether the model calls tools.'),
  credits: z.int().describe('The price of a run, an image or a video.'),
  ratios: z.array(z.string()).optional().describe('For image and video models.'),
  maxCount: z.int().optional().describe('For image and video models: the highest `n` of one generation.'),
  maxReferences: z.int().optional().describe('For image and video models.'),
  options: z
    .array(z.enum(['seed', 'quality', 'mask', 'firstFrame']))
    .optional()
    .describe('For image and video models: the optional fields of an order that the model accepts.'),
  durations: z.array(z.int()).optional().describe('In seconds. Empty: the model decides.'),
});
export type ModelInfo = z.output<typeof modelInfo>;
export const modelListing = z.object({ kind: z.enum(['chat', 'image', 'video']).optional() });
export const modelList = z.object({ models: z.array(modelInfo) });

/** PostgreSQL has no year 0. */
export const day = z.iso
  .date('must be a day such as 2026-01-31')
  .refine((text) => !text.startsWith('0000'), 'must be a day such as 2026-01-31');
export const usageRange = z.object({
  from: day.optional().describe('The first day, in UTC. Default: 30 days before `to`.'),
  to: day.optional().describe('The last day, included. Default: today.'),
  userId: z.string().optional().describe('Required with X-Internal-Key.'),
});
export const usageDays = z.object({
  days: z.array(
    z.object({
      day: z.string(),
      model: z.string(),
      runs: z.int(),
      inputTokens: z.int(),
      outputTokens: z.int(),
      images: z.int(),
      videos: z.int(),
      credits: z.int(),
    }),
  ),
});
export type UsageDays = z.output<typeof usageDays>;

export const creditsOwner = z.object({ userId: z.string().optional().describe('Required with X-Internal-Key.') });
export const creditsState = z.object({
  plan,
  credits: z.int(),
  prices: z.object({ run: z.int().describe('With the default model.'), image: z.int(), video: z.int() }),
});
export type CreditsState = z.output<typeof creditsState>;

export const thread = z.object({
  threadId: z.string(),
  title: z.string(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime().describe('When the last message was added.'),
  messageCount: z.int(),
  runningTaskId: z.string().nullable(),
  trashedAt: z.iso.datetime().nullable().describe('Since when it is in the trash.'),
  temporary: isTemporary,
});
export type ThreadInfo = z.output<typeof thread>;

const userIdOfServers = z.string().optional().describe('Required with X-Internal-Key.');
export const threadListing = z.object({
  limit: pageSize(200, 50).describe('1 to 200. Default: 50.'),
  cursor: z.string().max(500).optional().describe('The `next_cursor` of the previous page.'),
  q: z
    .string()
    .max(200)
    .refine(isStorable, 'must not contain NUL or lone surrogates')
    .optional()
    .describe('Words that must all occur in the title or the texts of the thread.'),
  trashed: z.enum(['true']).optional().describe('`true`: only threads in the trash, which no other listing has.'),
  userId: userIdOfServers,
});
export type ThreadListing = z.output<typeof threadListing>;
export const threadPage = z.object({ threads: z.array(thread), next_cursor: z.string().nullable() });
export type ThreadPage = z.output<typeof threadPage>;

const assets = z.enum(['true', 'false']).optional().describe('`true`: also delete the assets of the thread.');
export const threadOwner = z.object({
  userId: z.string().optional().describe('With X-Internal-Key: must own the thread.'),
});
export const currentTaskQuery = threadOwner.extend({ failed: assets.describe('`true`: also return `failed`.') });
export const threadDeletion = threadOwner.extend({ assets });
export const threadsDeletion = z.object({ userId: userIdOfServers, assets });
export const threadChange = z.object({
  title: z
    .string()
    .max(200)
    .refine(isStorable, 'must not contain NUL or lone surrogates')
    .refine((title) => title.trim() !== '', 'must not be empty')
    .transform((title) => title.trim())
    .optional()
    .describe('Required without `trashed` and `temporary`.'),
  trashed: z
    .boolean()
    .optional()
    .describe('`true`: into the trash, from which it is deleted after 30 days. `false`: back out of it.'),
  temporary: z.literal(false).optional().describe('`false`: keeps a temporary thread, which is listed then.'),
  userId: z.unknown().optional().meta({ type: 'string', format: 'uuid', description: 'As in the query.' }),
});
export type ThreadChange = z.output<typeof threadChange>;

export const taskParams = z.object({ taskId: z.string() });
export const threadParams = z.object({ threadId });

export const branchParams = threadParams.extend({ branchId: z.guid().toLowerCase() });
const branch = z.object({
  branchId: z.string().nullable().describe('`null`: the version that the thread shows.'),
  createdAt: z.iso.datetime().nullable().describe('When it was replaced. `null`: it is shown.'),
});
export const threadBranches = z.object({
  forks: z
    .array(
      z.object({
        messageId: z.string().describe('The message with which the versions begin to differ.'),
        branches: z.array(branch).describe('All versions, oldest first, with the one that is shown.'),
      }),
    )
    .describe('The messages of the thread that have other versions, in their order.'),
});
export type ThreadBranches = z.output<typeof threadBranches>;

export const replacedListing = threadOwner.extend({
  cursor: z
    .string()
    .regex(/^\d{1,15}$/, 'must be a next_cursor')
    .optional(),
});
export const replacedMessages = z.object({
  messages: z.array(
    z.object({
      branchId: z.string(),
      id: z.string(),
      role: z.enum(['user', 'assistant']),
      parts: z.array(z.unknown()).describe('As they were stored, without URLs.'),
      createdAt: z.iso.datetime(),
    }),
  ),
  next_cursor: z.string().nullable(),
});
export type ReplacedMessages = z.output<typeof replacedMessages>;

/** Of the tools that make media, and of `data-video` parts. */
export type MediaKind = 'image' | 'video';
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly required?: number;
  readonly balance?: number;
  /** Why a prompt was refused. */
  readonly categories?: readonly string[];
}
export interface MediaOutput {
  readonly kind: MediaKind;
  readonly assetId: string | null;
  readonly status: 'queued' | 'processing' | 'completed' | 'failed';
  /** Signed when messages are read; never stored. */
  readonly url: string | null;
  readonly mime: string | null;
  /** Of a tool that made several images: all of them. Readers get their URLs in `images`. */
  readonly assetIds?: readonly string[];
  /** With `completed`: of an image that could not be made. */
  readonly failure?: Failure;
}
export interface VideoOutput extends MediaOutput {
  readonly kind: 'video';
  readonly videoId: string;
  readonly taskId: string;
  readonly attempt: number;
}
