/** The trash of an owner's assets (docs/specification/media.md#trash). */
import { z } from 'zod';
import { optional, uuid } from '../api.ts';

export const trashChange = z.strictObject({
  ids: z.array(uuid).min(1).max(1000),
  trashed: z.boolean().describe('`true`: into the trash. `false`: back out of it.'),
  ownerId: optional(uuid).describe('Required with X-Internal-Key. Default: the user of the token.'),
});
export type TrashChange = z.output<typeof trashChange>;

export const trashChanged = z.object({
  changed: z.int().describe('The number of assets that changed, without the thumbnails of videos.'),
});
export type TrashChanged = z.output<typeof trashChanged>;
