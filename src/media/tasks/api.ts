/** The requests and responses of media tasks (docs/specification/media.md#video-tasks). */
import { z } from 'zod';
import { isStorableJson } from '#platform/storable.ts';
import { kind, mime, optional, ownerId, scopeId, scopeKind, uuid } from '../api.ts';

/** Levels of a task's metadata. */
const deepestMetadata = 32;

const taskStatus = z.enum(['pending', 'processing', 'completed', 'failed']);
export type TaskStatus = z.output<typeof taskStatus>;

export const taskUpsert = z.object({
  taskId: uuid,
  ownerId: uuid.describe('Set by the first write.'),
  mediaType: kind.describe('Set by the first write.'),
  status: optional(taskStatus).describe('Never goes backwards. Default of the first write: `pending`.'),
  metadata: optional(
    z
      .record(z.string(), z.unknown())
      .refine(
        (value) => isStorableJson(value, deepestMetadata),
        'must be at most 32 levels deep, of text without NUL and lone surrogates',
      ),
  ).describe('If present, replaces the stored value.'),
});
export type TaskUpsert = z.output<typeof taskUpsert>;

export const mediaTask = z.object({
  taskId: z.string(),
  ownerId: z.string(),
  mediaType: z.string(),
  status: taskStatus,
  metadata: z.record(z.string(), z.unknown()),
  createdAt: z.iso.datetime(),
  created_at: z.iso.datetime().describe('The same.'),
  updatedAt: z.iso.datetime(),
});
export type MediaTask = z.output<typeof mediaTask>;

export const videoTaskRequest = z.object({
  assetId: uuid.describe('The reserved id of an uploaded object.'),
  scopeKind,
  scopeId,
  mime: mime.refine((type) => type.startsWith('video/'), 'must be video/…'),
  ownerId,
  threadId: optional(scopeId).transform((id) => id ?? 'temp'),
});
export type VideoTaskRequest = z.output<typeof videoTaskRequest>;

export const videoTask = z.object({ taskId: z.string(), status: z.literal('pending') });
export type VideoTask = z.output<typeof videoTask>;

export const taskParams = z.object({ taskId: uuid });

export const taskDeleted = z.object({ deleted: z.boolean(), assetsDeleted: z.int() });
export type TaskDeleted = z.output<typeof taskDeleted>;

export const tasksDeletion = z.strictObject({ ownerId: uuid });

export const tasksDeleted = z.object({ deleted: z.int() });
export type TasksDeleted = z.output<typeof tasksDeleted>;
